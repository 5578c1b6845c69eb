/** Speaks a file of texts: chosen, checked, followed while it is spoken, handed out as a zip. */

import { listBatches, readBatch, sendFile } from "./batch_api.js";
import { BatchCard } from "./batch_card.js";
import { button, make, say } from "./dom.js";
import { NotSpoken } from "./speech_stream.js";
import { listVoices } from "./voice_api.js";

const HOW =
  "In a text file each line is one item. A CSV file names its columns in the first line: text, and" +
  " if you like name, voice, speed, instructions, language and seed. Nothing is spoken before you" +
  " start it, and it goes on when you close this page.";
const POLL_MS = 1000;

export class BatchPanel {
  #cards = new Map();
  #voices = [];
  #timer = 0;
  #asked = 0;

  constructor() {
    this.element = make("details", "lab-section");
    this.element.id = "batches";
    this.summary = this.element.appendChild(make("summary", "", "Speak a file"));
    const part = this.element.appendChild(make("div", "lab-part"));
    part.append(make("p", "aside", HOW));
    const row = part.appendChild(make("div", "take-buttons"));
    const file = make("input");
    Object.assign(file, { type: "file", accept: ".txt,.csv,.tsv", hidden: true, id: "batch-file" });
    file.addEventListener("change", () => {
      if (file.files[0]) this.#take(file.files[0]);
      file.value = "";
    });
    const label = "Choose a text or CSV file";
    row.append(button(label, label, () => file.click()), file);
    this.status = row.appendChild(make("span", "aside"));
    this.status.setAttribute("role", "status");
    this.refusal = errorLine(part);
    this.trouble = errorLine(part);
    this.list = part.appendChild(make("ul", "takes"));
    this.list.setAttribute("aria-label", "Files to speak, newest first");
    this.element.addEventListener("toggle", () => this.element.open && this.#look());
    document.addEventListener("visibilitychange", () => this.#follow());
    this.#refresh();
  }

  async #take(file) {
    this.status.textContent = "Reading the file…";
    await this.#tried(() => sendFile(file), this.refusal);
    this.status.textContent = "";
    await this.#look();
  }

  /** Fetches the voices that files can be spoken in, then all files. */
  async #look() {
    this.#voices = (await this.#tried(listVoices)) ?? this.#voices;
    for (const card of this.#cards.values()) card.offer(this.#voices);
    await this.#refresh();
  }

  async #refresh() {
    const asked = (this.#asked += 1);
    const batches = await this.#tried(listBatches);
    if (asked !== this.#asked) return; // a later answer is on its way
    if (batches) this.#show(batches);
    this.#follow();
  }

  /** Asks again in a second while something is being spoken and somebody can see it. */
  #follow() {
    clearTimeout(this.#timer);
    if (!document.hidden && this.#running().length > 0)
      this.#timer = setTimeout(() => this.#refresh(), POLL_MS);
  }

  #running() {
    return [...this.#cards.values()].filter(({ batch }) => batch.state === "running");
  }

  #show(batches) {
    const ids = new Set(batches.map(({ id }) => id));
    for (const [id, card] of this.#cards) {
      if (ids.has(id)) continue;
      card.element.remove();
      this.#cards.delete(id);
    }
    for (const batch of [...batches].reverse()) this.#update(batch);
    const running = this.#running().length;
    this.summary.textContent = `Speak a file${running ? ` (${running} being spoken)` : ""}`;
  }

  #update(batch) {
    const card = this.#cards.get(batch.id) ?? this.#add(batch);
    const before = card.batch;
    card.show(batch);
    if (before.state === "running" && batch.state !== "running")
      this.status.textContent = `${batch.title}: ${batch.state}.`;
    if (before === batch || before.state !== batch.state || before.failed !== batch.failed)
      this.#detail(card);
  }

  #add(batch) {
    const card = new BatchCard(batch, () => this.#refresh());
    card.offer(this.#voices);
    this.#cards.set(batch.id, card);
    this.list.prepend(card.element);
    return card;
  }

  async #detail(card) {
    const whole = await this.#tried(() => readBatch(card.batch.id));
    if (whole) card.detail(whole);
  }

  /** Does it, and says what went wrong in this place; null where something did. */
  async #tried(action, place = this.trouble) {
    try {
      const answer = await action();
      say(place, "");
      return answer;
    } catch (error) {
      if (!(error instanceof NotSpoken)) throw error;
      say(place, error.message);
      return null;
    }
  }
}

function errorLine(part) {
  const line = part.appendChild(make("p", "lab-error"));
  line.setAttribute("role", "alert");
  say(line, "");
  return line;
}
