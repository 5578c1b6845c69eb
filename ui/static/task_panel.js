/** The tasks: single pieces of work beside the conversation, chosen by what they do. */

import { button, make, say } from "./dom.js";
import { NotSpoken } from "./speech_stream.js";
import { listTasks } from "./task_api.js";
import { TaskChooser } from "./task_chooser.js";
import { TaskDialogue } from "./task_dialogue.js";
import { TaskForm } from "./task_form.js";
import { TaskPlayback } from "./task_playback.js";
import { TaskWork } from "./task_work.js";
import { BOTH_WAYS } from "./task_words.js";
import { listVoices, onVoicesChanged } from "./voice_api.js";

export class TaskPanel {
  #page;
  #playback;
  #work = null;
  #kinds = new Map();
  #engineState = "";

  /** @param {object} page
   *  @param {import("./player.js").Player} player */
  constructor(page, player) {
    this.#page = page;
    this.#playback = new TaskPlayback(player, () => this.#tell());
    onVoicesChanged(() => this.#work && this.#loadVoices());
  }

  /** Shows the tasks in this element. */
  mount(host) {
    const element = host.appendChild(make("div", "lab tasks"));
    this.form = new TaskForm();
    this.dialogue = new TaskDialogue(this.#playback, {
      retry: (turn) => this.#work.run(turn),
      chosen: ({ systemPrompt }) => this.form.instruct(systemPrompt),
      leave: () => this.stop(),
    });
    this.#work = new TaskWork(this.#page, this.#playback, this.form, this.dialogue, () => this.#tell());
    this.chooser = new TaskChooser((choice) => this.#choose(choice));
    this.part = make("div", "task-work");
    this.part.hidden = true;
    const { error, results } = this.#work;
    this.part.append(this.dialogue.element, this.form.element, error, this.#buildButtons(), results);
    element.append(this.chooser.element, this.part);
    this.#listen();
    this.#tell();
  }

  /** Takes in a message of the app. */
  follow(message) {
    if (message.type === "session.created") this.#engineState = ""; // the app may be another one now
    if (message.type !== "omni.engine" || !this.#work || message.state === this.#engineState) return;
    this.#engineState = message.state;
    if (message.state !== "ready") return;
    this.#loadTasks();
    this.#loadVoices();
  }

  /** Takes in the voices that there are, as the app lists them. */
  showVoices(voices) {
    this.form?.fields.voice.showVoices(voices);
  }

  /** Stops what is being done and heard. */
  stop() {
    this.#work?.stop();
  }

  #buildButtons() {
    const row = make("div", "take-buttons");
    this.go = row.appendChild(button("Run", "Run this task", () => this.#work.run()));
    this.go.id = "task-run";
    const both = "Ask with and without reasoning, side by side";
    this.both = row.appendChild(button("Compare both ways", both, () => this.#work.runBoth()));
    this.halt = row.appendChild(button("Stop", "Stop this task", () => this.stop()));
    return row;
  }

  #listen() {
    const { clip } = this.form.fields;
    clip.onReady = () => this.#work.choice.talks && this.#work.run();
    clip.onRecord = () => this.stop(); // the microphone would hear it
    this.form.element.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing || !event.target.matches("textarea")) return;
      const sends = this.#work.choice.talks && event.target === this.form.fields.text.control && !event.shiftKey;
      if (!sends && !event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.#work.run();
    });
  }

  #loadTasks() {
    return this.#tried(async () => {
      const { engine, tasks } = await listTasks();
      this.#work.engine = engine;
      this.#kinds = new Map(tasks.map((kind) => [kind.name, kind]));
      this.part.hidden = !this.chooser.offer(tasks);
    });
  }

  #loadVoices() {
    return this.#tried(async () => this.showVoices(await listVoices()));
  }

  async #tried(action) {
    try {
      await action();
    } catch (error) {
      if (!(error instanceof NotSpoken)) throw error;
      say(this.chooser.why, error.message);
    }
  }

  #choose(choice) {
    this.#work.choice = choice;
    this.form.ask(choice, this.#kinds.get(choice.task));
    const talks = Boolean(choice.talks);
    this.dialogue.element.hidden = !talks;
    this.#work.results.hidden = talks;
    this.go.textContent = talks ? "Send" : "Run";
    this.go.setAttribute("aria-label", talks ? "Send this turn" : "Run this task");
    this.both.hidden =
      !BOTH_WAYS.includes(choice) || !BOTH_WAYS.every(({ task }) => this.#kinds.get(task)?.available);
  }

  #tell() {
    if (this.halt) this.halt.disabled = !this.#work.busy;
  }
}
