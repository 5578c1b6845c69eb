/** The voice lab's fields. */

import { button, make } from "./dom.js";
import { IN_QUIET, Recorder } from "./recorder.js";
import { wavFile } from "./wav.js";

const LONGEST_S = 60;

/** @returns {HTMLElement} The control, in the form with its label. */
export function field(form, words, control) {
  const label = form.appendChild(make("label", "lab-field"));
  label.append(make("span", "", words), control);
  control.setAttribute("aria-label", words); // a list's label would be read with all its entries
  return control;
}

/** @returns {HTMLInputElement} A slider. */
export function range(form, words, min, max, step, value) {
  const control = field(form, words, make("input"));
  return Object.assign(control, { type: "range", min, max, step, value });
}

/** @returns {HTMLInputElement} A box for a number, or for none. */
export function number(form, words, min, max, step, none) {
  const control = field(form, words, make("input"));
  return Object.assign(control, { type: "number", min, max, step, placeholder: none });
}

/** @returns {HTMLSelectElement} A list of the numbers from 1 to `most`. */
export function choices(form, words, most) {
  const control = field(form, words, make("select"));
  for (let number = 1; number <= most; number += 1) control.add(new Option(number, number));
  return control;
}

/** @returns {HTMLInputElement} A box to tick, with its words. */
export function consentLine(form, words) {
  const label = form.appendChild(make("label", "lab-tick"));
  const box = label.appendChild(make("input"));
  box.type = "checkbox";
  label.append(make("span", "", words));
  return box;
}

/**
 * A button that records, and one that chooses a file.
 * @param {(clip: Blob) => void} take
 * @param {(words: string) => void} fail
 */
export function clipInput(take, fail) {
  const element = make("div", "take-buttons");
  const recording = new ClipRecording(take, fail, (words) => (record.textContent = words));
  const record = element.appendChild(
    button("● Record", "Record the voice to keep", () => recording.press()),
  );
  record.id = "keep-record";
  const file = make("input");
  Object.assign(file, { type: "file", accept: "audio/*,video/*", hidden: true, id: "keep-file" });
  file.addEventListener("change", () => {
    if (file.files[0]) take(file.files[0]);
    file.value = "";
  });
  element.append(button("Choose a sound file", "Choose a sound file", () => file.click()), file);
  return { element, record: () => recording.press() };
}

class ClipRecording {
  #take;
  #fail;
  #say;
  #recorder = null;
  #pieces = [];
  #rate = 0;

  constructor(take, fail, sayWords) {
    this.#take = take;
    this.#fail = fail;
    this.#say = sayWords;
  }

  /** Begins to record, or ends it. */
  async press() {
    if (this.#recorder) return this.#finish();
    this.#fail("");
    this.#pieces = [];
    const recorder = new Recorder((samples, rate) => this.#hear(samples, rate), () => this.#finish(), IN_QUIET);
    this.#recorder = recorder;
    this.#say("■ Stop");
    try {
      await recorder.start();
    } catch (error) {
      this.#recorder = null;
      this.#say("● Record");
      this.#fail(error.message);
    }
  }

  #hear(samples, rate) {
    this.#pieces.push(samples.slice());
    this.#rate = rate;
    const seconds = this.#pieces.reduce((sum, piece) => sum + piece.length, 0) / rate;
    this.#say(`■ Stop (${seconds.toFixed(1)} s)`);
    if (seconds >= LONGEST_S) this.#finish();
  }

  async #finish() {
    const recorder = this.#recorder;
    if (!recorder) return;
    this.#recorder = null;
    await recorder.stop();
    this.#say("● Record");
    if (this.#pieces.length > 0) this.#take(wavFile(this.#pieces, this.#rate));
  }
}
