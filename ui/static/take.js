/** One text as it was spoken once: heard again, judged, kept as a file, or thrown away. */

import { button, download, make, seconds } from "./dom.js";
import { Sound } from "./sound.js";
import { NotSpoken } from "./speech_stream.js";
import { TakeQuality } from "./take_quality.js";
import { packTake } from "./voice_api.js";

const TITLE_CHARS = 80;
const FORMATS = ["wav", "flac", "mp3"];

export class Take {
  #facts;
  #buttons;
  #error;
  #seed;

  /** Of its sound in the player. */
  id;
  sound = new Sound();

  /** @param {string} id Of its sound in the player.
   *  @param {number} number Among the takes of this page.
   *  @param {object} request As the speech route takes it.
   *  @param {string} label The voice and the engine, for people.
   *  @param {{play: (take: Take) => void, compare: (take: Take) => void, remove: (take: Take) => void}} on
   *    What a person may want with it. */
  constructor(id, number, request, label, on) {
    this.id = id;
    this.number = number;
    this.label = label;
    this.#seed = request.seed;
    this.words = request.input.trim();
    this.element = make("li", "take");
    const title = this.words.length > TITLE_CHARS ? `${this.words.slice(0, TITLE_CHARS)}…` : this.words;
    this.element.append(make("p", "take-text", title));
    this.#facts = this.element.appendChild(make("p", "aside"));
    this.quality = new TakeQuality(this.sound, request);
    this.element.append(this.quality.element);
    this.#buttons = this.element.appendChild(make("div", "take-buttons"));
    this.#buttons.hidden = true;
    this.compare = button("Compare", "Compare this take with another one", () => on.compare(this));
    this.compare.setAttribute("aria-pressed", "false");
    this.#buttons.append(
      button("▶ Play", `Play this take again: ${title}`, () => on.play(this)),
      ...FORMATS.map((kind) =>
        button(`⤓ ${kind.toUpperCase()}`, `Download this take as ${kind.toUpperCase()}`, () => this.#save(kind)),
      ),
      this.compare,
      button("Remove", "Remove this take", () => on.remove(this)),
    );
    this.#error = this.element.appendChild(make("p", "lab-error"));
    this.#error.setAttribute("role", "alert");
    this.tell();
  }

  /** Shows what is known of it by now. */
  tell() {
    const { sound } = this;
    const facts = [`Take ${this.number}`, this.label, seconds(sound.seconds)];
    if (this.#seed !== undefined) facts.push(`seed ${this.#seed}`);
    if (sound.file) facts.push(`first sound after ${seconds(sound.firstS)}`);
    this.#facts.textContent = facts.join(" · ");
    this.#buttons.hidden = !sound.file;
  }

  async #save(kind) {
    this.#error.textContent = "";
    try {
      download(await packTake(this.sound.file, kind), `omni-live-take-${this.number}.${kind}`);
    } catch (error) {
      if (!(error instanceof NotSpoken)) throw error;
      this.#error.textContent = error.message;
    }
  }
}
