/** The app's voice routes, as the page uses them. Everything throws `NotSpoken`. */

import { answerOf } from "./speech_stream.js";
import { ownerHeaders } from "./voice_owner.js";

/** @returns {string} The address of one of the routes under `/v1/audio/`. */
export const audioUrl = (route) => new URL(`v1/audio/${route}`, document.baseURI).href;

function answer(route, options = {}) {
  return answerOf(() => fetch(audioUrl(route), { ...options, headers: { ...ownerHeaders(), ...options.headers } }));
}

const told = async (route, options) => (await answer(route, options)).json();

function form(fields) {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  return { method: "POST", body };
}

const otherTabs = new BroadcastChannel("omni-live-voices");

/** Has other tabs of this browser look again, once this is done. */
async function changing(work) {
  const answer = await work;
  otherTabs.postMessage("changed");
  return answer;
}

/** Calls `action` when another tab has changed the kept voices. */
export const onVoicesChanged = (action) => otherTabs.addEventListener("message", action);

/** @returns {Promise<object[]>} All that can be spoken with. */
export const listVoices = async () => (await told("voices")).voices;

/** Has a clip examined. */
export const checkClip = (clip, words, soundOnly) =>
  told("voices/check", form({ audio_sample: clip, ref_text: words, x_vector_only_mode: soundOnly }));

/** @returns {Promise<object>} How good a take is.
 *  @param {Blob} take A WAV file.
 *  @param {object} request What it was made from.
 *  @param {AbortSignal} [signal] */
export const judgeTake = (take, { input, voice }, signal) =>
  told("takes/quality", { ...form({ take, input, voice }), signal });

/** @returns {Promise<Blob>} A take as a `wav`, `flac` or `mp3` file. */
export const packTake = async (take, kind) =>
  (await answer("takes/file", form({ take, response_format: kind }))).blob();

/** Keeps a voice; `fields` as the route names them. */
export const keepVoice = (fields) => changing(told("voices", form(fields)));

/** Has the conversation of this page answer in a voice, or in that of the settings again. */
export const useVoice = (id, sessionId, on) =>
  told(`voices/${id}/conversation`, {
    method: on ? "PUT" : "DELETE",
    headers: { "X-Omni-Session": sessionId },
  });

export const deleteVoice = (id) => changing(told(`voices/${id}`, { method: "DELETE" }));

/** @param {object} change Its `name`, or whether it is `shared`. */
export const changeVoice = (id, change) =>
  changing(
    told(`voices/${id}`, {
      method: "PATCH",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(change),
    }),
  );

/** @returns {Promise<Blob>} All own voices, as a zip. */
export const takeVoices = async () => (await answer("voices/archive")).blob();

/** Keeps what can be kept of a zip; tells what was `kept` and what was `refused`. */
export const bringVoices = (archive) => changing(told("voices/archive", form({ archive })));
