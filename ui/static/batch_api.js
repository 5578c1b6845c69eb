/** The app's batch routes, as the page uses them. Everything throws `NotSpoken`. */

import { answerOf } from "./speech_stream.js";
import { audioUrl } from "./voice_api.js";
import { ownerHeaders } from "./voice_owner.js";

async function told(route, options = {}) {
  const headers = { ...ownerHeaders(), ...options.headers };
  return (await answerOf(() => fetch(audioUrl(route), { ...options, headers }))).json();
}

/** @returns {Promise<object[]>} This browser's batches, newest first, without their items. */
export const listBatches = async () => (await told("batches")).batches;

/** @returns {Promise<object>} A batch with its items. */
export const readBatch = (id) => told(`batches/${id}`);

/** Has a file read and checked. Nothing is spoken yet. */
export function sendFile(file) {
  const body = new FormData();
  body.append("file", file);
  return told("batches", { method: "POST", body });
}

/** @param {object} how `voice`, `response_format`, `leave_out`, `again`: as the route names them. */
export const startBatch = (id, how) =>
  told(`batches/${id}/start`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(how),
  });

export const stopBatch = (id) => told(`batches/${id}/stop`, { method: "POST" });

export const deleteBatch = (id) => told(`batches/${id}`, { method: "DELETE" });

/** @returns {string} Where the browser itself can fetch all that is done, however much it is. */
export const zipUrl = ({ id, download_key: key }) => audioUrl(`batches/${id}/zip?key=${key}`);
