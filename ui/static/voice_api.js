/** The app's voice routes, as the page uses them. Everything throws `NotSpoken`. */

import { answerOf } from "./speech_stream.js";
import { ownerHeaders } from "./voice_owner.js";

/** @returns {string} The address of one of the routes under `/v1/audio/`. */
export const audioUrl = (route) => new URL(`v1/audio/${route}`, document.baseURI).href;

async function told(route, options = {}) {
  const ask = () => fetch(audioUrl(route), { ...options, headers: { ...ownerHeaders(), ...options.headers } });
  return (await answerOf(ask)).json();
}

function form(fields) {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  return { method: "POST", body };
}

/** @returns {Promise<object[]>} All that can be spoken with. */
export const listVoices = async () => (await told("voices")).voices;

/** Has a clip examined. */
export const checkClip = (clip, words, soundOnly) =>
  told("voices/check", form({ audio_sample: clip, ref_text: words, x_vector_only_mode: soundOnly }));

/** Keeps a voice; `fields` as the route names them. */
export const keepVoice = (fields) => told("voices", form(fields));

/** Has the conversation of this page answer in a voice, or in that of the settings again. */
export const useVoice = (id, sessionId, on) =>
  told(`voices/${id}/conversation`, {
    method: on ? "PUT" : "DELETE",
    headers: { "X-Omni-Session": sessionId },
  });

export const deleteVoice = (id) => told(`voices/${id}`, { method: "DELETE" });

/** @param {object} change Its `name`, or whether it is `shared`. */
export const changeVoice = (id, change) =>
  told(`voices/${id}`, {
    method: "PATCH",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(change),
  });
