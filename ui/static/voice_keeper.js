/** Keeps a voice: copied from a recording, one of the engine's in a style, or made up in words. */

import { ClipForm } from "./clip_form.js";
import { field } from "./lab_fields.js";
import { button, make, say } from "./dom.js";
import { NotSpoken } from "./speech_stream.js";
import { keepVoice } from "./voice_api.js";

const NO_CLONES =
  "The engine that runs here cannot copy voices. What is kept is checked all the same, and waits for" +
  " an engine that can.";
const KINDS = {
  clone: "Copied from a recording",
  named: "A voice of the engine, in a style",
  design: "Made up from a description",
};

export class VoiceKeeper {
  #kept;
  #clip = new ClipForm(() => this.#fail(""));

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
    this.kind = field(part, "Kind of voice", make("select"));
    this.kind.addEventListener("change", () => this.#show());
    this.note = part.appendChild(make("p", "aside"));
    part.append(this.#clip.element);
    this.speaker = field(part, "Speaker", make("select"));
    this.style = field(part, "Description", make("textarea"));
    Object.assign(this.style, { rows: 2, maxLength: 500, id: "keep-style" });
    this.name = field(part, "Name of the voice", make("input"));
    Object.assign(this.name, { type: "text", maxLength: 64, id: "keep-name" });
    part.append(this.#clip.consent.parentElement);
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
    this.#showKinds(["clone"]);
    this.#fail("");
  }

  /** Offers what the engine can do, as the app tells it. */
  follow({ voice_modes: modes, style_chars: chars }) {
    this.clones = modes.includes("clone");
    this.#showKinds(["clone", ...modes.filter((mode) => mode === "design" || (mode === "named" && chars > 0))]);
    this.#show();
  }

  /** Takes in the voices that there are. */
  showVoices(voices) {
    const own = voices.filter(({ built_in: builtIn }) => builtIn);
    this.speaker.replaceChildren(...own.map(({ name }) => new Option(name, name)));
  }

  #showKinds(kinds) {
    const chosen = this.kind.value;
    this.kind.replaceChildren(
      ...[...new Set(kinds)].map((kind) => new Option(KINDS[kind], kind, false, kind === chosen)),
    );
    this.kind.parentElement.hidden = this.kind.options.length < 2;
  }

  async #save(replace) {
    const kind = this.kind.value;
    if (kind === "clone") await this.#clip.settle();
    const missing = this.#missing(kind);
    this.#fail(missing);
    if (missing) return;
    this.status.textContent = "Saving…";
    const own = { instructions: this.style.value, ...(kind === "named" && { speaker: this.speaker.value }) };
    const fields = { name: this.name.value, kind, replace, ...(kind === "clone" ? this.#clip.fields() : own) };
    try {
      await keepVoice(fields);
      this.#forget();
      this.status.textContent = `${fields.name} is kept.`;
      this.#kept();
    } catch (error) {
      if (!(error instanceof NotSpoken)) throw error;
      this.status.textContent = "";
      this.#fail(error.message);
      this.replace.hidden = error.code !== "name_taken";
    }
  }

  #missing(kind) {
    if (kind === "clone" && this.#clip.missing) return this.#clip.missing;
    if (kind !== "clone" && !this.style.value.trim())
      return "Describe it first, such as: an old man, calm and hoarse.";
    if (!this.name.value.trim()) return "Give the voice a name.";
    return kind !== "clone" || this.#clip.consent.checked ? "" : "Confirm that whoever speaks agrees to this.";
  }

  #forget() {
    this.#clip.forget();
    this.name.value = this.style.value = "";
  }

  #fail(words) {
    say(this.error, words);
    this.replace.hidden = true;
  }

  #show() {
    const kind = this.kind.value;
    say(this.note, kind === "clone" && this.clones === false ? NO_CLONES : "");
    this.#clip.element.hidden = this.#clip.consent.parentElement.hidden = kind !== "clone";
    this.speaker.parentElement.hidden = kind !== "named";
    this.style.parentElement.hidden = kind === "clone";
    this.#fail("");
  }
}

