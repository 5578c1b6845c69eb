/** Keeps a voice: record or choose a clip, see what the check finds, mend it, name it, save it. */

import { clipInput, consentLine, field } from "./lab_fields.js";
import { button, make, say } from "./dom.js";
import { showReport } from "./clip_check.js";
import { NotSpoken } from "./speech_stream.js";
import { checkClip, keepVoice } from "./voice_api.js";

const NO_CLONES =
  "The engine that runs here cannot copy voices. What is kept is checked all the same, and waits for" +
  " an engine that can.";
const CONSENT = "Whoever speaks in this recording agrees that the voice is copied.";

export class VoiceKeeper {
  #kept;
  #clip = null;
  #report = null;
  #part = [0, 0];
  #checks = 0;

  /** @param {() => void} kept A voice was kept. */
  constructor(kept) {
    this.#kept = kept;
    this.element = make("details", "lab-section");
    this.element.id = "keep-voice";
    this.element.append(make("summary", "", "Keep a voice"));
    this.#build(this.element.appendChild(make("div", "lab-part")));
    this.#show();
  }

  #build(part) {
    this.note = part.appendChild(make("p", "aside"));
    this.source = clipInput((clip) => this.take(clip), (words) => this.#fail(words));
    part.append(this.source.element);
    this.listen = part.appendChild(make("audio", "lab-audio"));
    Object.assign(this.listen, { controls: true, hidden: true });
    this.report = part.appendChild(make("div", "lab-report"));
    this.report.setAttribute("aria-live", "polite");
    this.words = field(part, "Words spoken in it", make("textarea"));
    Object.assign(this.words, { rows: 2, id: "keep-words" });
    this.words.addEventListener("change", () => this.#check());
    this.soundOnly = consentLine(part, "Copy the sound of the voice only (no words needed)");
    this.soundOnly.addEventListener("change", () => this.#check());
    this.name = field(part, "Name of the voice", make("input"));
    Object.assign(this.name, { type: "text", maxLength: 64, id: "keep-name" });
    this.consent = consentLine(part, CONSENT);
    this.error = part.appendChild(make("p", "lab-error"));
    this.error.setAttribute("role", "alert");
    const row = part.appendChild(make("div", "take-buttons"));
    this.save = row.appendChild(button("Save voice", "Save this voice", () => this.#save(false)));
    this.save.id = "keep-save";
    this.replace = row.appendChild(
      button("Replace it", "Save in place of the voice of that name", () => this.#save(true)),
    );
    this.status = row.appendChild(make("span", "aside"));
    this.status.setAttribute("role", "status");
  }

  /** Says what the engine cannot do, as the app tells it. */
  follow({ voice_modes: modes }) {
    say(this.note, modes.includes("clone") ? "" : NO_CLONES);
  }

  /** Takes a clip, and has it checked. */
  take(clip) {
    this.#clip = clip;
    this.#part = [0, 0];
    this.#report = null;
    URL.revokeObjectURL(this.listen.src);
    this.listen.src = URL.createObjectURL(clip);
    return this.#check();
  }

  async #check() {
    if (!this.#clip) return;
    const check = (this.#checks += 1);
    this.#fail("");
    // The last report stays until then: a click on one of its buttons may have brought this about.
    this.status.textContent = "Listening to the recording…";
    try {
      const report = await checkClip(this.#clip, this.words.value, this.soundOnly.checked);
      if (check !== this.#checks) return; // something else is being checked by now
      this.#report = report;
    } catch (error) {
      if (!(error instanceof NotSpoken)) throw error;
      if (check !== this.#checks) return;
      this.#report = null;
      this.#fail(error.message);
    }
    this.#show();
  }

  #mend(fix) {
    if (fix === "record_again") return this.source.record();
    if (fix === "trim") this.#part = this.#report.kept_s;
    if (fix === "use_heard_text") this.words.value = this.#report.heard;
    if (fix === "x_vector_only") this.soundOnly.checked = true;
    return fix === "trim" ? this.#show("Only the marked part will be kept.") : this.#check();
  }

  async #save(replace) {
    const missing = this.#missing();
    this.#fail(missing);
    if (missing) return;
    this.status.textContent = "Saving…";
    const [start, end] = this.#part;
    const fields = {
      audio_sample: this.#clip,
      name: this.name.value,
      ref_text: this.words.value,
      x_vector_only_mode: this.soundOnly.checked,
      consent: CONSENT,
      start_s: start,
      end_s: end,
      replace,
    };
    try {
      await keepVoice(fields);
      this.#forget();
      this.#show(`${fields.name} is kept.`);
      this.#kept();
    } catch (error) {
      if (!(error instanceof NotSpoken)) throw error;
      this.#show();
      this.#fail(error.message);
      this.replace.hidden = error.code !== "name_taken";
    }
  }

  #missing() {
    if (!this.#clip) return "Record the voice first, or choose a sound file.";
    if (this.#report && !this.#report.usable) return "Mend what is marked with ✕ first.";
    if (!this.name.value.trim()) return "Give the voice a name.";
    return this.consent.checked ? "" : "Confirm that whoever speaks agrees to this.";
  }

  #forget() {
    this.#clip = this.#report = null;
    this.#part = [0, 0];
    this.words.value = this.name.value = "";
    this.consent.checked = this.soundOnly.checked = false;
    URL.revokeObjectURL(this.listen.src);
    this.listen.removeAttribute("src");
  }

  #fail(words) {
    say(this.error, words);
    this.replace.hidden = true;
  }

  #show(words = "") {
    this.status.textContent = words;
    this.listen.hidden = !this.#clip;
    if (!this.#report) return this.report.replaceChildren();
    const part = this.#part[1] ? this.#part : this.#report.kept_s;
    showReport(this.report, this.#report, part, (fix) => this.#mend(fix));
  }
}
