/** The app's task routes, as the page uses them. Everything throws `NotSpoken`. */

import { NotSpoken, answerOf } from "./speech_stream.js";
import { ownerHeaders } from "./voice_owner.js";

const BROKE_OFF = "The work broke off before its end. Please try again.";

/** @returns {string} The address of one of the routes under `/v1/tasks`. */
export const taskUrl = (route = "") => new URL(`v1/tasks${route}`, document.baseURI).href;

const answer = (route, options = {}) =>
  answerOf(() => fetch(taskUrl(route), { ...options, headers: { ...ownerHeaders(), ...options.headers } }));

const json = (body) => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});

/** @returns {Promise<{engine: string, tasks: object[]}>} What the engine that runs here does. */
export const listTasks = async () => (await answer("")).json();

/** Puts a sound on the app's shelf. @returns {Promise<{id: string, duration_s: number, notes: object[]}>} */
export async function sendClip(file) {
  const body = new FormData();
  body.append("file", file);
  return (await answer("/clips", { method: "POST", body })).json();
}

/** @returns {Promise<Blob>} A sound of the shelf, as a WAV file. */
export const fetchClip = async (id) => (await answer(`/clips/${id}`)).blob();

/** @returns {Promise<Blob>} Captions as an `srt` or `vtt` file. */
export const packCaptions = async (cues, kind) => (await answer(`/captions/${kind}`, json({ cues }))).blob();

/**
 * Has the engine work.
 * @param {object} request As the route takes it.
 * @param {AbortSignal} signal Ends the work; then an `AbortError` is thrown.
 * @yields {object} What happens, as the route tells it; the last one has the type `end`.
 */
export async function* runTask(request, signal) {
  const { body } = await answer("", { ...json(request), signal });
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await next(reader);
    if (done) throw new NotSpoken(BROKE_OFF);
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      if (!part.startsWith("data:")) continue;
      const event = JSON.parse(part.slice("data:".length));
      yield event;
      if (event.type === "end") return;
    }
  }
}

async function next(reader) {
  try {
    return await reader.read();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new NotSpoken(BROKE_OFF);
  }
}
