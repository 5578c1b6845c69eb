/** Has tasks done, one at a time, and shows what comes of them. */

import { make, say } from "./dom.js";
import { NotSpoken } from "./speech_stream.js";
import { TaskCard } from "./task_card.js";
import { TaskRun } from "./task_run.js";
import { BOTH_WAYS } from "./task_words.js";

const IN_A_CALL = "End the call first: the microphone would hear this.";

export class TaskWork {
  #page;
  #playback;
  #form;
  #dialogue;
  #making = null;
  #last = Promise.resolve();

  /** What is to be done, one of `CHOICES`. */
  choice = null;

  /** What does it, as the app calls it. */
  engine = "";

  /** @param {object} page
   *  @param {import("./task_playback.js").TaskPlayback} playback
   *  @param {import("./task_form.js").TaskForm} form
   *  @param {import("./task_dialogue.js").TaskDialogue} dialogue
   *  @param {() => void} changed It begins or ends. */
  constructor(page, playback, form, dialogue, changed) {
    this.#page = page;
    this.#playback = playback;
    this.#form = form;
    this.#dialogue = dialogue;
    this.changed = changed;
    this.results = make("ol", "takes take-grid");
    this.results.setAttribute("aria-label", "Results, newest first");
    this.error = make("p", "lab-error");
    this.error.setAttribute("role", "alert");
    say(this.error, "");
  }

  /** Whether there is anything to stop. */
  get busy() {
    return this.#making !== null || this.#playback.sounding;
  }

  /** Does it with what the form holds, or with what was asked in an earlier turn. */
  run(turn = null) {
    return this.#alone((signal) => this.#attempt(signal, turn));
  }

  /** Asks one question with and without reasoning. */
  runBoth() {
    return this.#alone((signal) => this.#askBoth(signal));
  }

  /** Stops what is being done and heard; what has come so far stays. */
  stop() {
    this.#making?.abort();
    this.#making = null;
    this.#playback.stop();
    this.changed();
  }

  #alone(action) {
    this.stop();
    say(this.error, this.#page.call.on ? IN_A_CALL : "");
    if (this.#page.call.on) return this.#last;
    const making = (this.#making = new AbortController());
    const before = this.#last; // its turn has to be whole: it becomes part of the history
    this.#last = before.catch(() => {}).then(async () => {
      try {
        if (!making.signal.aborted) await action(making.signal);
      } finally {
        if (this.#making === making) this.#making = null;
        this.changed();
      }
    });
    this.changed();
    return this.#last;
  }

  async #attempt(signal, turn) {
    const mended = new Set();
    let refusal = await this.#ask(signal, turn);
    while (refusal?.code === "clip_unknown" && !mended.has(refusal.param)) {
      mended.add(refusal.param);
      await this.#mend(refusal.param, turn);
      refusal = await this.#ask(signal, turn);
    }
    if (refusal) this.#refuse(refusal);
  }

  /** Sends a recording of the form again that the app has forgotten; earlier turns go on without. */
  async #mend(param, turn) {
    const earlier = param.startsWith("history.") || (turn && param === "clip");
    if (earlier) this.#dialogue.dialogues.dropLost(param, turn);
    else await this.#form.renew(param);
  }

  /** @returns {Promise<NotSpoken | null>} What was refused. */
  async #ask(signal, turn) {
    const request = await this.#form.request(turn && { text: turn.text, clip: turn.clip });
    if (!request || signal.aborted) return null;
    try {
      await (this.choice.talks ? this.#talk(request, signal, turn) : this.#show(request, signal));
      return null;
    } catch (error) {
      if (!(error instanceof NotSpoken)) throw error;
      return error;
    }
  }

  async #show(request, signal) {
    const card = new TaskCard(new TaskRun(request, this.engine), this.choice.name, this.#playback);
    this.results.prepend(card.element);
    try {
      await card.view.go(signal);
    } catch (error) {
      card.element.remove();
      throw error;
    }
  }

  async #askBoth(signal) {
    const request = await this.#form.request();
    if (!request) return;
    const pair = make("li", "task-pair");
    this.results.prepend(pair);
    try {
      for (const { task, name } of BOTH_WAYS) {
        if (signal.aborted) return;
        const card = new TaskCard(new TaskRun({ ...request, task }, this.engine), name, this.#playback, "div");
        pair.append(card.element);
        await card.view.go(signal);
      }
    } catch (error) {
      if (!(error instanceof NotSpoken)) throw error;
      pair.remove();
      this.#refuse(error);
    }
  }

  async #talk(request, signal, again) {
    const { dialogues } = this.#dialogue;
    const before = [...dialogues.current.turns];
    if (again) this.#dialogue.cutAt(again);
    const turn = this.#dialogue.begin({ ...again, ...request });
    const history = dialogues.before(turn, request.task);
    const run = new TaskRun(history.length ? { ...request, history } : request, this.engine);
    if (!again) run.onAccepted = () => this.#form.sent();
    try {
      await this.#dialogue.answer(turn, run, signal);
    } catch (error) {
      this.#dialogue.restore(before);
      throw error;
    }
  }

  #refuse({ param, message }) {
    if (!this.#form.fail(param, message)) say(this.error, message);
  }
}
