/** The recording that a voice is copied from: made or chosen, checked, and mended. */

import { showReport } from "./clip_check.js";
import { clipInput, consentLine, field } from "./lab_fields.js";
import { make, say } from "./dom.js";
import { NotSpoken } from "./speech_stream.js";
import { checkClip } from "./voice_api.js";

const CONSENT = "Whoever speaks in this recording agrees that the voice is copied.";

export class ClipForm {
  #changed;
  #clip = null;
  #report = null;
  #part = [0, 0];
  #checks = 0;
  #settled = Promise.resolve();
  #current = false; // whether the report is about what there is now

  /** @param {() => void} changed There is another recording, or it is looked at anew. */
  constructor(changed) {
    this.#changed = changed;
    this.element = make("div", "lab-stack");
    this.source = clipInput((clip) => this.take(clip), (words) => say(this.error, words));
    this.element.append(this.source.element);
    this.listen = this.element.appendChild(make("audio", "lab-audio"));
    this.listen.controls = true;
    this.report = this.element.appendChild(make("div", "lab-report"));
    this.report.setAttribute("aria-live", "polite");
    this.words = field(this.element, "Words spoken in it", make("textarea"));
    Object.assign(this.words, { rows: 2, id: "keep-words" });
    this.words.addEventListener("input", () => (this.#current = false));
    this.words.addEventListener("change", () => (this.#settled = this.#check()));
    this.soundOnly = consentLine(this.element, "Copy the sound of the voice only (no words needed)");
    this.soundOnly.addEventListener("change", () => (this.#settled = this.#check()));
    this.error = this.element.appendChild(make("p", "lab-error"));
    this.error.setAttribute("role", "alert");
    // Always as high: a line that came up under a press would move the button away from it.
    this.status = this.element.appendChild(make("p", "aside clip-status"));
    this.status.setAttribute("role", "status");
    this.consent = consentLine(this.element, CONSENT);
    this.#show();
    say(this.error, "");
  }

  /** What is wrong with it still, in words for people; empty when nothing is. */
  get missing() {
    if (!this.#clip) return "Record the voice first, or choose a sound file.";
    if (!this.#current) return "The recording has to be looked at first, with its words.";
    return !this.#report.usable ? "Mend what is marked with ✕ first." : "";
  }

  /** Has what there is now looked at, unless it was. */
  async settle() {
    await this.#settled;
    if (this.#clip && !this.#current) await this.#check();
  }

  /** What is kept of it, as the app names it. */
  fields() {
    const [start, end] = this.#part;
    return {
      audio_sample: this.#clip,
      ref_text: this.words.value,
      x_vector_only_mode: this.soundOnly.checked,
      consent: CONSENT,
      start_s: start,
      end_s: end,
    };
  }

  /** Takes a clip, and has it checked. */
  take(clip) {
    this.#clip = clip;
    this.#part = [0, 0];
    this.#report = null;
    this.consent.checked = false; // it was about another recording
    URL.revokeObjectURL(this.listen.src);
    this.listen.src = URL.createObjectURL(clip);
    this.#settled = this.#check();
  }

  /** Empties the form. */
  forget() {
    this.#clip = this.#report = null;
    this.#part = [0, 0];
    this.words.value = "";
    this.consent.checked = this.soundOnly.checked = false;
    URL.revokeObjectURL(this.listen.src);
    this.listen.removeAttribute("src");
    this.#show();
  }

  async #check() {
    if (!this.#clip) return;
    const check = (this.#checks += 1);
    this.#current = false;
    this.#changed();
    say(this.error, "");
    // The last report stays until then: a click on one of its buttons may have brought this about.
    this.status.textContent = "Listening to the recording…";
    try {
      const report = await checkClip(this.#clip, this.words.value, this.soundOnly.checked);
      if (check !== this.#checks) return; // something else is being checked by now
      this.#report = report;
      this.#current = true;
    } catch (error) {
      if (!(error instanceof NotSpoken)) throw error;
      if (check !== this.#checks) return;
      this.#report = null;
      say(this.error, error.message);
    }
    this.#show();
  }

  #mend(fix) {
    if (fix === "record_again") {
      this.source.record();
      return;
    }
    if (fix === "trim") this.#part = this.#report.kept_s;
    if (fix === "use_heard_text") this.words.value = this.#report.heard;
    if (fix === "x_vector_only") this.soundOnly.checked = true;
    if (fix === "trim") this.#show("Only the marked part will be kept.");
    else this.#settled = this.#check();
  }

  #show(words = "") {
    this.status.textContent = words;
    this.listen.hidden = !this.#clip;
    if (!this.#report) return this.report.replaceChildren();
    const part = this.#part[1] ? this.#part : this.#report.kept_s;
    showReport(this.report, this.#report, part, (fix) => this.#mend(fix));
  }
}
