/** A dialogue in turns, and the choice between several of them. */

import { button, download, make, say } from "./dom.js";
import { NotSpoken } from "./speech_stream.js";
import { sureButton } from "./sure_button.js";
import { packDialogue, unpackDialogue } from "./task_dialogue_file.js";
import { Dialogues } from "./task_dialogues.js";
import { TaskTurn } from "./task_turn.js";

const EMPTY = "Nothing has been said yet.";

export class TaskDialogue {
  #playback;
  #on;
  #turns = [];

  /** @param {import("./task_playback.js").TaskPlayback} playback
   *  @param {{retry: (turn: object) => void, chosen: (dialogue: object) => void, leave: () => void}} on
   *    A turn is to be tried again; another dialogue is shown; what goes on has to stop first. */
  constructor(playback, on) {
    this.#playback = playback;
    this.#on = on;
    this.dialogues = new Dialogues();
    this.element = make("section", "task-dialogue");
    this.element.setAttribute("aria-label", "Dialogue");
    this.#buildBar();
    this.error = this.element.appendChild(make("p", "lab-error"));
    this.error.setAttribute("role", "alert");
    this.empty = this.element.appendChild(make("p", "aside", EMPTY));
    this.list = this.element.appendChild(make("ol", "task-turns"));
    this.list.setAttribute("aria-label", "Turns");
    this.#show();
  }

  #buildBar() {
    const bar = this.element.appendChild(make("div", "take-buttons task-dialogue-bar"));
    this.choice = bar.appendChild(make("select"));
    this.choice.setAttribute("aria-label", "Dialogue that is shown");
    this.choice.addEventListener("change", () => this.#do(() => this.dialogues.choose(Number(this.choice.value))));
    const file = make("input");
    Object.assign(file, { type: "file", accept: ".json,application/json", hidden: true, id: "task-dialogue-file" });
    file.addEventListener("change", () => {
      const [chosen] = file.files;
      if (chosen) this.#do(async () => this.dialogues.add(await unpackDialogue(chosen)));
      file.value = "";
    });
    bar.append(
      button("New", "Begin a new dialogue", () => this.#do(() => this.dialogues.add())),
      button("⤓ Save", "Save this dialogue as a file", () => this.#do(() => this.#save())),
      button("⤒ Open", "Open a dialogue that was saved as a file", () => file.click()),
      file,
      sureButton("Delete", "Delete this dialogue", () => this.#do(() => this.dialogues.remove())),
    );
  }

  /** @returns {object} A new turn, with what was said or typed. */
  begin({ text = "", clip = null, system_prompt: systemPrompt = "" }) {
    this.dialogues.current.systemPrompt = systemPrompt;
    const turn = { text, clip, answer: "", answerClip: null, reasoning: "", cues: [] };
    this.dialogues.current.turns.push(turn);
    return turn;
  }

  /** Shows the work on a turn, and keeps what comes of it. */
  async answer(turn, run, signal) {
    const shown = this.#add(turn, run);
    this.#showLast();
    await shown.view.go(signal);
    const { text, heard, reasoning, cues, sound } = run;
    Object.assign(turn, { answer: text.trim(), answerClip: sound.clip, reasoning, cues });
    if (heard && !turn.text) turn.text = heard;
    this.dialogues.store();
    shown.render();
    this.#showLast();
  }

  #showLast() {
    this.list.scrollTop = this.list.scrollHeight;
  }

  /** Takes away a turn, and all after it. */
  cutAt(turn) {
    const at = this.#turns.findIndex((shown) => shown.turn === turn);
    for (const shown of this.#turns.splice(at)) shown.element.remove();
    this.dialogues.cutAt(turn);
  }

  /** Shows these turns again: what was to replace them was refused. */
  restore(turns) {
    this.dialogues.current.turns = turns;
    this.dialogues.store();
    this.#show();
  }

  #save() {
    const { current } = this.dialogues;
    return packDialogue(current).then((file) => download(file, `${current.name}.json`));
  }

  async #do(action) {
    this.#on.leave();
    say(this.error, "");
    try {
      await action();
    } catch (error) {
      if (!(error instanceof NotSpoken)) throw error;
      say(this.error, error.message);
    }
    this.#show();
    this.#on.chosen(this.dialogues.current);
  }

  #show() {
    const { names, number, current } = this.dialogues;
    this.choice.replaceChildren(...names.map((name, at) => new Option(name, at, false, at === number)));
    this.list.replaceChildren();
    this.#turns = [];
    for (const turn of current.turns) this.#add(turn, null);
    this.empty.hidden = this.#turns.length > 0;
  }

  #add(turn, run) {
    const shown = new TaskTurn(turn, run, this.#playback, {
      changed: () => this.dialogues.store(),
      retry: (one) => this.#on.retry(one),
      branch: (one) => this.#do(() => this.dialogues.branch(one)),
      remove: (one) => this.#do(() => this.dialogues.cutAt(one)),
    });
    this.#turns.push(shown);
    this.list.append(shown.element);
    this.empty.hidden = true;
    return shown;
  }
}
