/** The files that an answer can be taken away as. */

import { button, download, make } from "./dom.js";
import { NotSpoken } from "./speech_stream.js";
import { packCaptions } from "./task_api.js";
import { packTake } from "./voice_api.js";

const SOUNDS = ["wav", "flac", "mp3"];
const CAPTIONS = ["srt", "vtt"];
const LASTS_MS = 2000;

export class TaskFiles {
  /** @param {import("./task_run.js").TaskRun} run
   *  @param {(words: string) => void} fail */
  constructor(run, fail) {
    this.run = run;
    this.fail = fail;
    this.element = make("span", "task-files");
    this.sounds = SOUNDS.map((kind) => this.#button(kind, "this answer", () => this.#sound(kind)));
    this.captions = CAPTIONS.map((kind) => this.#button(kind, "the captions", () => packCaptions(run.cues, kind)));
    this.copy = button("Copy text", "Copy the text of this answer", () => this.#copy());
    this.element.append(...this.sounds, ...this.captions, this.copy);
    this.render();
  }

  /** Offers what there is by now. */
  render() {
    const { busy, sound, cues, text } = this.run;
    for (const one of this.sounds) one.hidden = busy || !sound.there;
    for (const one of this.captions) one.hidden = busy || cues.length === 0;
    this.copy.hidden = busy || !text.trim() || !navigator.clipboard;
  }

  #button(kind, what, make) {
    const name = kind.toUpperCase();
    return button(`⤓ ${name}`, `Download ${what} as ${name}`, async () => {
      this.fail("");
      try {
        download(await make(), `omni-live-task.${kind}`);
      } catch (error) {
        if (!(error instanceof NotSpoken)) throw error;
        this.fail(error.message);
      }
    });
  }

  async #sound(kind) {
    const file = await this.run.sound.wav();
    return kind === "wav" ? file : packTake(file, kind);
  }

  async #copy() {
    await navigator.clipboard.writeText(this.run.text.trim());
    this.copy.textContent = "Copied";
    setTimeout(() => (this.copy.textContent = "Copy text"), LASTS_MS);
  }
}
