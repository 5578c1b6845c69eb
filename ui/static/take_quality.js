/** How good a take is: its words as they are heard back, and its voice beside the recording. */

import { button, make } from "./dom.js";
import { NotSpoken } from "./speech_stream.js";
import { judgeTake } from "./voice_api.js";

const LONGEST_S = 120;

export class TakeQuality {
  #sound;
  #request;
  #words;
  #again;

  /** @param {import("./sound.js").Sound} sound
   *  @param {object} request What the take was made from. */
  constructor(sound, request) {
    this.#sound = sound;
    this.#request = request;
    this.element = make("p", "aside take-quality");
    this.#words = this.element.appendChild(make("span"));
    this.#again = button("Check its quality", "Check the quality of this take", () => this.judge());
    this.#again.hidden = true;
    this.element.append(this.#again);
  }

  /** Has it judged and shows the verdict. An abort of `signal` leaves a button to ask again. */
  async judge(signal) {
    if (this.#sound.seconds > LONGEST_S) return this.#say("Longer than two minutes: not judged.");
    this.#say("Listening to it…");
    try {
      this.#say(verdict(await judgeTake(this.#sound.file, this.#request, signal)));
    } catch (error) {
      if (!(error instanceof NotSpoken) && error.name !== "AbortError") throw error;
      this.#say(error instanceof NotSpoken ? error.message : "", true);
    }
  }

  #say(words, again = false) {
    this.#words.textContent = words;
    this.#again.hidden = !again;
  }
}

/** @returns {string} The verdict in one line; empty where nothing can be judged. */
function verdict({ word_error_rate: rate, not_heard: lost, not_written: added, similarity }) {
  const parts = [];
  if (rate === 0) parts.push("All words were heard back");
  if (rate > 0) parts.push(`Word error rate ${Math.round(100 * rate)} %${differences(lost, added)}`);
  if (similarity !== null) parts.push(`voice similarity ${similarity.toFixed(2)} of 1`);
  return parts.join(" · ");
}

function differences(lost, added) {
  const quoted = (words) => words.map((word) => `“${word}”`).join(", ");
  const told = [lost.length && `not heard: ${quoted(lost)}`, added.length && `heard instead: ${quoted(added)}`];
  const words = told.filter(Boolean).join("; ");
  return words ? ` (${words})` : "";
}
