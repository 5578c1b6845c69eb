/** The dialogues of this tab: kept over a reload, branched, changed. */

import { freshId } from "./session_id.js";
import { checkedDialogue } from "./task_dialogue_check.js";

const KEPT = "omni-live-dialogues";

/** As many earlier turns as the task route takes. */
const MOST_TURNS = 100;

/** The kind of dialogue that hears no clip whose words are known. */
const TYPED = "text_dialogue_sft_multiturn";

/** The sounds of a turn, by their names in the task route. */
const SOUNDS = { clip: "clip", answer_clip: "answerClip" };

export class Dialogues {
  #all;
  #current;

  constructor() {
    const { all, current } = stored();
    this.#all = all;
    this.#current = all.at(current) ?? this.add();
  }

  /** @returns {{name: string, systemPrompt: string, turns: object[]}} The one that is shown. A turn
   *  has a `text` and a `clip`, an `answer` and an `answerClip`, and the `reasoning` and `cues` of
   *  the answer; clips are ids of the app's shelf, or null. */
  get current() {
    return this.#current;
  }

  /** @returns {string[]} What they are called. */
  get names() {
    return this.#all.map(({ name }) => name);
  }

  /** Number of the one that is shown. */
  get number() {
    return this.#all.indexOf(this.#current);
  }

  /** Shows another one. */
  choose(number) {
    this.#current = this.#all[number];
    this.store();
  }

  /** Begins another one, with these turns. */
  add({ name = this.#freeName(), turns = [], systemPrompt = "" } = {}) {
    this.#current = { id: freshId(), name, turns, systemPrompt };
    this.#all.push(this.#current);
    this.store();
    return this.#current;
  }

  /** Goes on in a copy that ends with this turn. */
  branch(turn) {
    const { turns, systemPrompt } = this.#current;
    this.add({ turns: structuredClone(turns.slice(0, turns.indexOf(turn) + 1)), systemPrompt });
  }

  /** Throws the one that is shown away. */
  remove() {
    const number = this.number;
    this.#all.splice(number, 1);
    this.#current = this.#all[Math.max(0, number - 1)] ?? this.add();
    this.store();
  }

  /** Takes away a turn, and all after it. */
  cutAt(turn) {
    const { turns } = this.#current;
    const at = turns.indexOf(turn);
    if (at >= 0) turns.splice(at);
    this.store();
  }

  /** @returns {object[]} What came before this turn, as the task route takes it for this task. */
  before(turn, task) {
    const typed = task === TYPED;
    return this.#earlier(turn).map(({ text, clip, answer, answerClip }) => {
      const sounds = { clip: typed && text ? null : clip, answer_clip: typed ? null : answerClip };
      return Object.fromEntries(Object.entries({ text, answer, ...sounds }).filter(([, value]) => value));
    });
  }

  /** Forgets a sound that the app keeps no longer: its turn goes on as text.
   *  @param {string} param What the app calls it: `clip`, or `history.N.clip` or `.answer_clip`.
   *  @param {object | null} turn The one that was tried again; null where a new one was asked. */
  dropLost(param, turn) {
    const [, number, sound] = param.split(".");
    if (sound) this.#earlier(turn)[number][SOUNDS[sound]] = null;
    else turn.clip = null;
    this.store();
  }

  /** The newest answered turns before this one, or of all where it is not there. */
  #earlier(turn) {
    const { turns } = this.#current;
    const at = turns.indexOf(turn);
    const all = at < 0 ? turns : turns.slice(0, at);
    return all.filter(({ answer }) => answer).slice(-MOST_TURNS);
  }

  /** Keeps all as it is now. */
  store() {
    try {
      sessionStorage.setItem(KEPT, JSON.stringify({ all: this.#all, current: this.number }));
    } catch {
      // Blocked or full storage: they live as long as the page.
    }
  }

  #freeName() {
    const taken = new Set(this.names);
    let number = 1;
    while (taken.has(`Dialogue ${number}`)) number += 1;
    return `Dialogue ${number}`;
  }
}

function stored() {
  try {
    const { all, current } = JSON.parse(sessionStorage.getItem(KEPT));
    return { all: all.map(checkedDialogue).filter(Boolean), current };
  } catch {
    return { all: [], current: 0 }; // blocked, or nothing there that could be read
  }
}
