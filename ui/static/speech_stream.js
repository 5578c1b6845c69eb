/** A text spoken by the app: the sound as it is being made, and the file that it makes up. */

const UNREACHABLE = "The app could not be reached. Please try again in a moment.";
const BROKE_OFF = "The sound broke off before its end. Please try again.";

/** Where a WAV file says how many bytes come after these, and how many samples a second. */
const RIFF_SIZE_AT = 4;
const RATE_AT = 24;
const DATA = [...new TextEncoder().encode("data")];

/**
 * Why the app did not do it, in words for people; `code` is its own name for the reason, and `param`
 * the part of the request that has to change.
 */
export class NotSpoken extends Error {
  constructor(message, code = "", param = "") {
    super(message);
    this.code = code;
    this.param = param;
  }
}

/**
 * Has the app speak.
 * @param {string} url Of `/v1/audio/speech`.
 * @param {object} request Its body, without the format.
 * @param {Record<string, string>} headers
 * @param {AbortSignal} signal Ends it; then an `AbortError` is thrown.
 */
export async function speak(url, request, headers, signal) {
  const response = await answerOf(() =>
    fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify({ ...request, response_format: "wav" }),
      signal,
    }),
  );
  return new SpeechStream(response.body.getReader());
}

/** @returns {Promise<Response>} The app's answer, if it is a good one. */
export async function answerOf(ask) {
  let response;
  try {
    response = await ask();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new NotSpoken(UNREACHABLE);
  }
  if (response.ok) return response;
  const told = await response.json().catch(() => null);
  const { message = UNREACHABLE, code, param } = told?.error ?? {};
  throw new NotSpoken(message, code, param);
}

class SpeechStream {
  #reader;
  #head = new Uint8Array(0);
  #rest = new Uint8Array(0);
  #sound = [];

  constructor(reader) {
    this.#reader = reader;
  }

  /** Rate of the sound in hertz; known once the first piece has come. */
  sampleRate = 0;

  /** Yields the sound, as `Int16Array`s. */
  async *pieces() {
    for (;;) {
      const { done, value } = await this.#next();
      if (done) return;
      const bytes = this.sampleRate ? value : this.#readHead(value);
      const piece = this.#wholeSamples(bytes);
      if (piece.length > 0) yield piece;
    }
  }

  /** @returns {Blob} All that came, as a WAV file that says how long it is. */
  file() {
    const soundBytes = this.#sound.reduce((sum, piece) => sum + piece.byteLength, 0);
    const head = this.#head.slice();
    const view = new DataView(head.buffer);
    view.setUint32(RIFF_SIZE_AT, head.length - 8 + soundBytes, true);
    view.setUint32(head.length - 4, soundBytes, true);
    return new Blob([head, ...this.#sound], { type: "audio/wav" });
  }

  async #next() {
    try {
      return await this.#reader.read();
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new NotSpoken(BROKE_OFF);
    }
  }

  /** @returns {Uint8Array} What of these bytes comes after the file's head. */
  #readHead(bytes) {
    const all = joined(this.#head, bytes);
    const at = all.findIndex((_, start) => DATA.every((byte, n) => all[start + n] === byte));
    const end = at < 0 ? all.length : Math.min(at + 8, all.length);
    this.#head = all.slice(0, end);
    if (at >= 0 && end === at + 8)
      this.sampleRate = new DataView(all.buffer).getUint32(RATE_AT, true);
    return all.subarray(end);
  }

  #wholeSamples(bytes) {
    const all = joined(this.#rest, bytes);
    const end = all.length - (all.length % 2);
    this.#rest = all.slice(end);
    const piece = new Int16Array(all.slice(0, end).buffer);
    if (piece.length > 0) this.#sound.push(piece);
    return piece;
  }
}

function joined(first, second) {
  if (first.length === 0) return second.slice();
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
