/** One turn of a dialogue: what was asked, what was answered, and how to change either. */

import { button, make, say } from "./dom.js";
import { NotSpoken } from "./speech_stream.js";
import { sureButton } from "./sure_button.js";
import { TaskRun } from "./task_run.js";
import { TaskSound } from "./task_sound.js";
import { TaskView } from "./task_view.js";

export class TaskTurn {
  #playback;
  #on;

  /** @param {object} turn As `Dialogues` keeps it.
   *  @param {TaskRun | null} run What works on it now; null where it was answered before.
   *  @param {import("./task_playback.js").TaskPlayback} playback
   *  @param {{changed: () => void, retry: (turn: object) => void, branch: (turn: object) => void,
   *    remove: (turn: object) => void}} on What a person may want with it. */
  constructor(turn, run, playback, on) {
    this.turn = turn;
    this.#playback = playback;
    this.#on = on;
    this.view = new TaskView(run ?? TaskRun.past(turn), playback);
    this.element = make("li", "turn task-turn");
    this.asked = this.element.appendChild(make("div", "bubble asked"));
    this.words = this.asked.appendChild(make("p", "words"));
    this.listen = this.asked.appendChild(button("▶ Play", "Play what you said", () => this.#hear()));
    this.problem = this.asked.appendChild(make("p", "lab-error"));
    this.answered = this.element.appendChild(make("div", "bubble answered"));
    this.answered.append(this.view.element);
    this.buttons = this.element.appendChild(make("div", "take-buttons task-turn-buttons"));
    this.buttons.append(
      button("Edit", "Edit this turn", () => this.#edit()),
      button("Retry", "Try this turn again; later turns are removed", () => on.retry(turn)),
      button("Branch", "Go on from here in a new dialogue", () => on.branch(turn)),
      sureButton("Delete from here", "Delete this turn and all after it", () => on.remove(turn)),
    );
    this.render();
  }

  /** Shows it as it is now. */
  render() {
    const { text, clip } = this.turn;
    say(this.words, text || (clip ? "What you said is not written down." : ""));
    this.words.classList.toggle("aside", !text);
    this.listen.hidden = !clip;
    this.buttons.hidden = this.view.run.busy;
    say(this.problem, "");
  }

  async #hear() {
    const sound = new TaskSound(this.turn.clip);
    try {
      await sound.load();
      this.#playback.play(sound, 0, () => {});
    } catch (error) {
      if (!(error instanceof NotSpoken)) throw error;
      say(this.problem, error.code ? "This recording is no longer kept." : error.message);
    }
  }

  #edit() {
    const form = make("div", "lab-stack");
    const asked = box(form, "What you said", this.turn.text);
    const answer = box(form, "The answer", this.turn.answer);
    const row = form.appendChild(make("div", "take-buttons"));
    const close = () => {
      form.replaceWith(this.asked, this.answered);
      this.buttons.hidden = false;
      this.buttons.firstChild.focus();
    };
    row.append(
      button("Save", "Save this turn", () => {
        this.#change(asked.value.trim(), answer.value.trim());
        close();
      }),
      button("Cancel", "Leave this turn as it was", close),
    );
    this.asked.replaceWith(form);
    this.answered.remove();
    this.buttons.hidden = true;
    asked.focus();
  }

  #change(text, answer) {
    const { turn } = this;
    // What was heard says something else now; words that were only missing are those of the sound.
    if (turn.text && text && text !== turn.text) turn.clip = null;
    turn.text = text;
    if (answer !== turn.answer) Object.assign(turn, { answer, answerClip: null, reasoning: "", cues: [] });
    this.#on.changed();
    const before = this.view.element;
    this.view = new TaskView(TaskRun.past(turn), this.#playback);
    before.replaceWith(this.view.element);
    this.render();
  }
}

function box(form, words, value) {
  const label = form.appendChild(make("label", "lab-field", words));
  const control = label.appendChild(make("textarea"));
  control.setAttribute("aria-label", words);
  return Object.assign(control, { rows: 2, value });
}
