/** A recording for a task: made, chosen or dropped, sent at once, and kept until another one comes. */

import { make, say, seconds } from "./dom.js";
import { clipInput } from "./lab_fields.js";
import { NotSpoken } from "./speech_stream.js";
import { fetchClip, sendClip } from "./task_api.js";
import { TaskField } from "./task_field.js";

/** As much as the app takes in where its settings say nothing else. */
const LONGEST_S = 300;

export class TaskClip extends TaskField {
  #clip = null;
  #file = null;
  #settled = Promise.resolve();

  /** @param {string} id
   *  @param {string} words Its label.
   *  @param {string} record What the button that records says to those who do not see it. */
  constructor(id, words, record) {
    super(id, words);
    this.element.classList.add("task-clip");
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", words);
    const names = { id: `task-${id}`, label: record, longestS: LONGEST_S };
    this.source = clipInput((file) => this.take(file), (problem) => this.fail(problem), names);
    this.source.element.firstChild.addEventListener("click", () => this.onRecord(), { capture: true });
    this.listen = make("audio", "lab-audio");
    this.listen.controls = true;
    this.listen.setAttribute("aria-label", words);
    this.notes = make("p", "aside");
    this.notes.setAttribute("role", "status");
    this.error.before(this.source.element, this.listen, this.notes);
    this.#catchDrops();
    this.forget();
  }

  /** Called when a recording is there, ready to be used. */
  onReady = () => {};

  /** Called when the microphone is about to be opened, or closed. */
  onRecord = () => {};

  /** The recording's id on the app's shelf; empty where there is none. */
  get value() {
    return this.element.hidden || !this.#clip ? "" : this.#clip.id;
  }

  /** Takes a recording in place of the last one. */
  take(file) {
    this.#clip = null;
    this.#file = file;
    URL.revokeObjectURL(this.listen.src);
    this.listen.src = URL.createObjectURL(file);
    this.listen.hidden = false;
    const sent = this.#send(file);
    this.#settled = sent;
    sent.then((there) => there && this.onReady());
  }

  settle() {
    return this.#settled;
  }

  /** Sends it again: the app has forgotten it. */
  renew() {
    this.#clip = null;
    if (this.#file) this.#settled = this.#send(this.#file);
    return this.#settled;
  }

  /** Empties the field. */
  forget() {
    this.#clip = this.#file = null;
    URL.revokeObjectURL(this.listen.src);
    this.listen.removeAttribute("src");
    this.listen.hidden = true;
    say(this.notes, "");
  }

  /** @returns {Promise<boolean>} Whether it is there now. */
  async #send(file) {
    this.fail("");
    say(this.notes, "Sending the recording…");
    try {
      const clip = await sendClip(file);
      if (file !== this.#file) return false; // another one has come
      this.#clip = clip;
      say(this.notes, [seconds(clip.duration_s), ...clip.notes.map(({ text }) => text)].join(" · "));
      await this.#makePlayable(clip, file);
      return true;
    } catch (error) {
      if (!(error instanceof NotSpoken)) throw error;
      if (file !== this.#file) return false;
      say(this.notes, "");
      this.fail(error.message);
      return false;
    }
  }

  /** Browsers play fewer kinds of files than the app reads; what the app made of it they do. */
  async #makePlayable(clip, file) {
    if (file.type === "audio/wav" || this.listen.canPlayType(file.type)) return;
    const wav = await fetchClip(clip.id);
    if (file === this.#file) this.listen.src = URL.createObjectURL(wav);
  }

  #catchDrops() {
    const over = (event, on) => {
      if (![...event.dataTransfer.types].includes("Files")) return;
      event.preventDefault();
      this.element.classList.toggle("over", on);
    };
    this.element.addEventListener("dragover", (event) => over(event, true));
    this.element.addEventListener("dragleave", (event) => over(event, false));
    this.element.addEventListener("drop", (event) => {
      over(event, false);
      const [file] = event.dataTransfer.files;
      if (file) this.take(file);
    });
    this.source.element.append(make("span", "aside task-drop", "or drop one here"));
  }
}
