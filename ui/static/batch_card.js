/** One batch: what is wrong in its file, how far it has come, and what can be done with it. */

import { deleteBatch, startBatch, stopBatch, zipUrl } from "./batch_api.js";
import { doing, itemLine, standing, troubleLine } from "./batch_words.js";
import { button, make, say } from "./dom.js";
import { consentLine, field } from "./lab_fields.js";
import { NotSpoken } from "./speech_stream.js";
import { sureButton } from "./sure_button.js";

const FORMATS = ["wav", "flac", "mp3"];

export class BatchCard {
  #batch;
  #changed;

  /** @param {object} batch As the app lists it.
   *  @param {() => void} changed The list has to be fetched anew. */
  constructor(batch, changed) {
    this.#changed = changed;
    this.element = make("li", "take batch");
    this.element.append(make("p", "take-text", batch.title));
    this.facts = this.element.appendChild(make("p", "aside"));
    this.bar = this.element.appendChild(make("progress"));
    this.bar.setAttribute("aria-label", `How much of ${batch.title} is through`);
    this.doing = this.element.appendChild(make("p", "aside"));
    this.notes = this.element.appendChild(make("p", "batch-note"));
    this.wrong = this.#list("batch-wrong", true);
    this.all = this.#list("batch-all", false);
    this.#buildChoices();
    this.error = this.element.appendChild(make("p", "lab-error"));
    this.error.setAttribute("role", "alert");
    this.#buildButtons(batch.title);
    this.show(batch);
  }

  /** How it stands, as the app told last. */
  get batch() {
    return this.#batch;
  }

  /** Shows how it stands now. */
  show(batch) {
    this.#batch = batch;
    const { state, done, failed, waiting, left_out: leftOut } = batch;
    const focused = document.activeElement;
    say(this.facts, standing(batch));
    say(this.doing, doing(batch));
    this.bar.max = Math.max(1, batch.items - leftOut);
    this.bar.value = done + failed;
    this.bar.hidden = state === "planned";
    this.choices.hidden = state !== "planned" || waiting === 0;
    this.leaveOut.parentElement.hidden = leftOut === 0;
    this.start.hidden = state === "running" || state === "finished" || waiting === 0;
    this.start.textContent = state === "planned" ? "Start" : "Resume";
    this.start.setAttribute("aria-label", `${this.start.textContent} ${batch.title}`);
    this.stop.hidden = state !== "running";
    this.again.hidden = failed === 0;
    this.zip.hidden = done === 0;
    this.zip.href = zipUrl(batch);
    this.zip.textContent = state === "finished" ? "⤓ Zip" : "⤓ Zip so far";
    // Who pressed a button that is gone now goes on from one that is there.
    if (focused.hidden && this.buttons.contains(focused))
      this.buttons.querySelector(":not([hidden])").focus();
  }

  /** Shows its items, and what is wrong with which.
   *  @param {object} whole The batch with its items. */
  detail({ notes, list, title }) {
    say(this.notes, notes.join(" "));
    if (notes.length > 0 && this.all.hidden) this.all.open = true; // whoever is to look sees it
    const wrong = list.filter(({ reason }) => reason);
    fill(this.wrong, `What is wrong (${wrong.length})`, wrong.map(troubleLine));
    fill(this.all, `All items of ${title} (${list.length})`, list.map(itemLine));
  }

  /** Offers these voices, as the app lists them, to items that name none. */
  offer(voices) {
    const chosen = this.voice.value;
    const usable = voices.filter(({ built_in: builtIn, usable: fits }) => builtIn || fits);
    const offered = usable.length ? usable : [{ id: "default", name: "The engine's own" }];
    this.voice.replaceChildren(...offered.map(({ id, name }) => new Option(name, id, false, id === chosen)));
  }

  #list(className, open) {
    const part = this.element.appendChild(make("details", className));
    part.open = open;
    part.append(make("summary"), make("ol", "batch-lines"));
    part.hidden = true;
    return part;
  }

  #buildChoices() {
    this.choices = this.element.appendChild(make("div", "batch-choices"));
    this.voice = field(this.choices, "Voice of items that name none", make("select"));
    this.format = field(this.choices, "Format", make("select"));
    this.format.append(...FORMATS.map((kind) => new Option(kind.toUpperCase(), kind)));
    this.leaveOut = consentLine(this.choices, "Leave out what cannot be spoken, and speak the rest");
    this.offer([]);
  }

  #buildButtons(title) {
    this.buttons = this.element.appendChild(make("div", "take-buttons"));
    const add = (element) => this.buttons.appendChild(element);
    this.start = add(button("Start", "", () => this.#do(() => startBatch(this.#batch.id, this.#how()))));
    this.stop = add(button("Stop", `Stop ${title}`, () => this.#do(() => stopBatch(this.#batch.id))));
    this.again = add(
      button("Try the failed ones again", `Try the failed items of ${title} again`, () =>
        this.#do(() => startBatch(this.#batch.id, { again: true })),
      ),
    );
    this.zip = add(make("a", "quiet-button"));
    this.zip.download = "";
    this.zip.setAttribute("aria-label", `Download what is spoken of ${title} as a zip`);
    add(sureButton("Delete", `Delete ${title}`, () => this.#do(() => deleteBatch(this.#batch.id))));
  }

  #how() {
    if (this.#batch.state !== "planned") return {};
    const { voice, format, leaveOut } = this;
    return { voice: voice.value, response_format: format.value, leave_out: leaveOut.checked };
  }

  async #do(action) {
    say(this.error, "");
    try {
      await action();
    } catch (error) {
      if (!(error instanceof NotSpoken)) throw error;
      say(this.error, error.message);
    }
    this.#changed();
  }
}

/** Fills a list with these lines. */
function fill(part, title, lines) {
  part.hidden = lines.length === 0;
  part.querySelector("summary").textContent = title;
  part.querySelector("ol").replaceChildren(...lines.map((words) => make("li", "", words)));
}
