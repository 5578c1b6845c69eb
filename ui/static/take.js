/** One text as it was spoken once: heard again, kept as a file, or thrown away. */

import { button, make, seconds } from "./dom.js";

const TITLE_CHARS = 80;

export class Take {
  #id;
  #player;
  #pieces = [];
  #rate = 0;
  #facts;
  #buttons;

  /** @param {string} id Of its sound in the player.
   *  @param {string} text What is spoken.
   *  @param {string} voice The voice's name.
   *  @param {import("./player.js").Player} player
   *  @param {() => void} play Plays it again. */
  constructor(id, text, voice, player, play) {
    this.#id = id;
    this.#player = player;
    this.voice = voice;
    this.element = make("li", "take");
    const title = text.length > TITLE_CHARS ? `${text.slice(0, TITLE_CHARS)}…` : text;
    this.element.append(make("p", "take-text", title));
    this.#facts = this.element.appendChild(make("p", "aside"));
    this.#buttons = this.element.appendChild(make("div", "take-buttons"));
    this.play = button("▶ Play", `Play this take again: ${title}`, play);
    this.#tellFacts();
  }

  /** The name of its sound in the player. */
  get id() {
    return this.#id;
  }

  /** Seconds of sound so far. */
  get soundS() {
    return this.#pieces.reduce((sum, piece) => sum + piece.length, 0) / (this.#rate || 1);
  }

  /** Takes the next sound, and plays it. */
  push(piece, sampleRate) {
    if (!this.#rate) this.#player.begin(this.#id, sampleRate);
    this.#rate = sampleRate;
    this.#pieces.push(piece);
    this.#player.push(this.#id, piece);
    this.#tellFacts();
  }

  /** All of it has come.
   *  @param {Blob} file
   *  @param {number} firstSoundS From the click to the first sound. */
  finish(file, firstSoundS) {
    this.#player.end(this.#id);
    this.#tellFacts(`first sound after ${seconds(firstSoundS)}`);
    const link = make("a", "quiet-button", "⤓ WAV");
    link.href = URL.createObjectURL(file);
    link.download = `omni-live-${this.#id}.wav`;
    link.setAttribute("aria-label", "Download this take as a WAV file");
    this.#buttons.append(this.play, link, button("Remove", "Remove this take", () => this.#remove(link.href)));
  }

  /** Plays it from its beginning, under a name that the player does not know yet. */
  again(id) {
    this.#id = id;
    this.#player.begin(id, this.#rate);
    for (const piece of this.#pieces) this.#player.push(id, piece);
    this.#player.end(id);
  }

  /** Stops its sound. */
  stop() {
    this.#player.drop(this.#id);
  }

  #remove(href) {
    this.stop();
    URL.revokeObjectURL(href);
    this.element.remove();
  }

  #tellFacts(more = "") {
    const facts = [this.voice, seconds(this.soundS), more].filter(Boolean);
    this.#facts.textContent = facts.join(" · ");
  }
}
