/** The voices that this browser keeps: found, heard, renamed, tagged, shared, deleted. */

import { button, make, say } from "./dom.js";
import { NotSpoken, answerOf } from "./speech_stream.js";
import { sureButton } from "./sure_button.js";
import { audioUrl, changeVoice, deleteVoice } from "./voice_api.js";
import { VoiceArchive } from "./voice_archive.js";
import { ownerHeaders } from "./voice_owner.js";

const NONE = "No voice is kept yet.";
const NOT_HERE = "The engine that runs here cannot speak with it.";

const wordsIn = (text) => text.split(",").map((tag) => tag.trim()).filter(Boolean);

/** Whether every word that was typed is in its name or one of its tags. */
function isFound(voice, typed) {
  const told = [voice.name, ...voice.tags].join(" ").toLowerCase();
  return typed.toLowerCase().split(/\s+/).every((word) => told.includes(word));
}

export class KeptVoices {
  #changed;
  #used;
  #voices = [];

  /** @param {() => void} changed The list has to be fetched anew.
   *  @param {import("./used_voice.js").UsedVoice} used */
  constructor(changed, used) {
    this.#changed = changed;
    this.#used = used;
    used.addEventListener("change", () => this.#list());
    this.element = make("details", "lab-section");
    this.element.id = "kept-voices";
    this.element.append(make("summary", "", "Kept voices"));
    const part = this.element.appendChild(make("div", "lab-part"));
    this.none = part.appendChild(make("p", "aside", NONE));
    this.find = part.appendChild(this.#findBox());
    this.list = part.appendChild(make("ul", "takes"));
    this.error = part.appendChild(make("p", "lab-error"));
    this.error.setAttribute("role", "alert");
    this.archive = new VoiceArchive(changed);
    part.append(this.archive.element);
    this.player = new Audio();
    this.#list();
  }

  /** Shows these voices, as the app lists them. */
  show(voices) {
    this.#voices = voices;
    this.#used.take(voices);
    this.#list();
  }

  #list() {
    say(this.error, "");
    const kept = this.#voices.filter((voice) => !voice.built_in);
    this.none.hidden = kept.length > 0;
    this.archive.show(kept.some((voice) => voice.own));
    this.find.hidden = kept.length < 2 && !this.find.value;
    const found = kept.filter((voice) => isFound(voice, this.find.value));
    this.list.replaceChildren(...found.map((voice) => this.#line(voice)));
  }

  #line(voice) {
    const line = make("li", "take");
    if (voice.own) line.append(this.#nameBox(voice), this.#tagBox(voice));
    else line.append(make("p", "take-text", [voice.name, ...voice.tags].join(" · ")));
    const facts = [
      voice.own ? "" : "Shared by somebody else.",
      voice.own && voice.shared ? "Everybody may use it." : "",
      voice.usable ? "" : NOT_HERE,
    ];
    line.append(make("p", "aside", facts.filter(Boolean).join(" ")));
    const row = line.appendChild(make("div", "take-buttons"));
    if (voice.usable) row.append(this.#useButton(voice));
    if (voice.kind === "clone")
      row.append(button("▶ Recording", `Hear the recording of ${voice.name}`, () => this.#hear(voice)));
    if (!voice.own) return line;
    row.append(
      button(voice.shared ? "Stop sharing" : "Share", `${voice.shared ? "Stop sharing" : "Share"} ${voice.name}`, () =>
        this.#do(() => changeVoice(voice.id, { shared: !voice.shared })),
      ),
      sureButton("Delete", `Delete ${voice.name}`, () => this.#do(() => deleteVoice(voice.id))),
    );
    return line;
  }

  #useButton(voice) {
    const used = this.#used.is(voice);
    const use = button(
      used ? "✓ In the conversation" : "Use in the conversation",
      `${used ? "Stop using" : "Use"} ${voice.name} in the conversation`,
      () => this.#do(() => this.#used.use(used ? null : voice), false),
    );
    use.setAttribute("aria-pressed", String(used));
    return use;
  }

  #nameBox(voice) {
    const box = make("input", "kept-name");
    Object.assign(box, { type: "text", value: voice.name, maxLength: 64 });
    box.setAttribute("aria-label", `Name of ${voice.name}`);
    box.addEventListener("change", () => this.#do(() => changeVoice(voice.id, { name: box.value })));
    return box;
  }

  #tagBox(voice) {
    const box = make("input", "kept-name");
    Object.assign(box, { type: "text", value: voice.tags.join(", "), placeholder: "Tags, such as: calm, German" });
    box.setAttribute("aria-label", `Tags of ${voice.name}`);
    box.addEventListener("change", () => this.#do(() => changeVoice(voice.id, { tags: wordsIn(box.value) })));
    return box;
  }

  #findBox() {
    const box = make("input", "kept-name");
    Object.assign(box, { type: "search", placeholder: "Find by name or tag" });
    box.setAttribute("aria-label", "Find a kept voice by name or tag");
    box.addEventListener("input", () => this.#list());
    return box;
  }

  async #do(action, changes = true) {
    try {
      await action();
      if (changes) this.#changed();
    } catch (error) {
      if (!(error instanceof NotSpoken)) throw error;
      say(this.error, error.message);
    }
  }

  async #hear(voice) {
    try {
      const ask = () => fetch(audioUrl(`voices/${voice.id}/sample`), { headers: ownerHeaders() });
      const file = await (await answerOf(ask)).blob();
      URL.revokeObjectURL(this.player.src);
      this.player.src = URL.createObjectURL(file);
      await this.player.play();
    } catch (error) {
      if (!(error instanceof NotSpoken)) throw error;
      say(this.error, error.message);
    }
  }
}
