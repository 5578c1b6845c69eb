/** The kept voices as one zip: taken out of this browser, and brought in. */

import { button, download, make, say } from "./dom.js";
import { NotSpoken } from "./speech_stream.js";
import { bringVoices, takeVoices } from "./voice_api.js";

export class VoiceArchive {
  #changed;

  /** @param {() => void} changed Voices came in. */
  constructor(changed) {
    this.#changed = changed;
    this.element = make("div");
    const row = this.element.appendChild(make("div", "take-buttons"));
    this.export = row.appendChild(
      button("⤓ Export voices", "Export my voices as a zip file", () => this.#do(() => this.#takeOut())),
    );
    const file = row.appendChild(make("input"));
    Object.assign(file, { type: "file", accept: ".zip,application/zip", hidden: true, id: "voices-file" });
    file.addEventListener("change", () => {
      const [chosen] = file.files;
      if (chosen) this.#do(() => this.#bringIn(chosen));
      file.value = "";
    });
    row.append(button("⤒ Import voices", "Import voices from a zip file", () => file.click()));
    this.told = this.element.appendChild(make("p", "aside"));
    this.told.setAttribute("role", "status");
    this.error = this.element.appendChild(make("p", "lab-error"));
    this.error.setAttribute("role", "alert");
    this.#tell("", "");
  }

  /** Shows what can be done where there are own voices, or none. */
  show(hasOwn) {
    this.export.hidden = !hasOwn;
  }

  async #takeOut() {
    download(await takeVoices(), "voices.zip");
  }

  async #bringIn(file) {
    this.#tell("Bringing the voices in…", "");
    const { kept, refused } = await bringVoices(file);
    this.#tell(broughtIn(kept), refused.map(({ name, message }) => `“${name}” was not kept: ${message}`).join(" "));
    this.#changed();
  }

  async #do(action) {
    this.#tell("", "");
    try {
      await action();
    } catch (error) {
      if (!(error instanceof NotSpoken)) throw error;
      this.#tell("", error.message);
    }
  }

  #tell(words, trouble) {
    say(this.told, words);
    say(this.error, trouble);
  }
}

/** @returns {string} What came in, and what is called otherwise here. */
function broughtIn(kept) {
  if (kept.length === 0) return "No voice came in.";
  const count = kept.length === 1 ? "1 voice came in." : `${kept.length} voices came in.`;
  const renamed = kept
    .filter((voice) => voice.name !== voice.name_in_archive)
    .map((voice) => `“${voice.name_in_archive}” is called “${voice.name}” here, since the name was taken.`);
  return [count, ...renamed].join(" ");
}
