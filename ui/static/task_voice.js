/** The voice that a task speaks in: a kept one, or that of a recording. */

import { make } from "./dom.js";
import { TaskClip } from "./task_clip.js";
import { TaskField } from "./task_field.js";

const OWN = "The model's own";
const RECORDED = "Of a recording…";

export class TaskVoice extends TaskField {
  #clip = new TaskClip("voice-clip", "Recording of the voice", "Record the voice to speak in");
  #optional = true;
  #kept = [];

  constructor() {
    super("voice", "Voice", make("select"));
    this.error.before(this.#clip.element);
    this.control.addEventListener("change", () => this.#changed());
    this.#offer();
  }

  /** A voice has to be given, or need not be. */
  require(required) {
    this.#optional = !required;
    this.#offer();
  }

  /** Takes in the voices that there are, as the app lists them. */
  showVoices(voices) {
    this.#kept = voices.filter(({ kind }) => kind === "clone");
    this.#offer();
  }

  /** Whether a voice was chosen. */
  get value() {
    return Object.values(this.fields())[0] ?? "";
  }

  /** What was chosen, as the route names it. */
  fields() {
    if (this.element.hidden || !this.control.value) return {};
    if (this.control.value !== "clip") return { voice: this.control.value };
    return this.#clip.value ? { voice_clip: this.#clip.value } : {};
  }

  settle() {
    return this.#clip.settle();
  }

  /** Sends the recording again: the app has forgotten it. */
  renew() {
    return this.#clip.renew();
  }

  #offer() {
    const chosen = this.control.value;
    const options = [
      ...(this.#optional ? [new Option(OWN, "")] : []),
      ...this.#kept.map(({ id, name }) => new Option(name, id)),
      new Option(RECORDED, "clip"),
    ];
    this.control.replaceChildren(...options);
    if (options.some(({ value }) => value === chosen)) this.control.value = chosen;
    this.#changed();
  }

  #changed() {
    this.#clip.show(this.control.value === "clip");
  }
}
