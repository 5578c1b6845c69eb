/** The voice lab's fields. */

import { button, make } from "./dom.js";
import { IN_QUIET, Recorder } from "./recorder.js";
import { wavFile } from "./wav.js";

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
 * @param {{id: string, label: string, longestS: number}} names Of the button that records.
 */
export function clipInput(take, fail, names = { id: "keep", label: "Record the voice to keep", longestS: 60 }) {
  const element = make("div", "take-buttons");
  const recording = new ClipRecording(take, fail, names.longestS, (words) => {
    record.textContent = words;
    record.setAttribute("aria-pressed", String(recording.on));
  });
  const record = element.appendChild(button("● Record", names.label, () => recording.press()));
  record.id = `${names.id}-record`;
  record.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !recording.on) return;
    event.preventDefault(); // or it would stop what the page says, too
    recording.discard();
  });
  const file = make("input");
  Object.assign(file, { type: "file", accept: "audio/*,video/*", hidden: true, id: `${names.id}-file` });
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
  #longestS;
  #say;
  #recorder = null;
  #opened = false;
  #pieces = [];
  #rate = 0;

  constructor(take, fail, longestS, sayWords) {
    this.#take = take;
    this.#fail = fail;
    this.#longestS = longestS;
    this.#say = sayWords;
  }

  /** Whether the microphone is heard. */
  get on() {
    return this.#recorder !== null;
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
      return;
    }
    if (this.#recorder === recorder) this.#opened = true;
    else recorder.stop(); // it was ended before the microphone was open
  }

  #hear(samples, rate) {
    this.#pieces.push(samples.slice());
    this.#rate = rate;
    const seconds = this.#pieces.reduce((sum, piece) => sum + piece.length, 0) / rate;
    this.#say(`■ Stop (${seconds.toFixed(1)} s)`);
    if (seconds >= this.#longestS) this.#finish();
  }

  /** Ends it, and throws away what was recorded. */
  discard() {
    return this.#finish(false);
  }

  async #finish(kept = true) {
    const recorder = this.#recorder;
    if (!recorder) return;
    this.#recorder = null;
    if (this.#opened) await recorder.stop();
    this.#opened = false;
    this.#say("● Record");
    if (kept && this.#pieces.length > 0) this.#take(wavFile(this.#pieces, this.#rate));
  }
}
