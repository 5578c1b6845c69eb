/** The dialogues of this tab: kept over a reload, branched, changed. */

import { freshId } from "./session_id.js";
import { fetchClip } from "./task_api.js";

const KEPT = "omni-live-dialogues";

export class Dialogues {
  #all;
  #current;

  constructor() {
    const { all, current } = stored() ?? { all: [], current: 0 };
    this.#all = all;
    this.#current = all[current] ?? this.add();
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

  /** @returns {object[]} What came before this turn, as the task route takes it. */
  before(turn) {
    const { turns } = this.#current;
    const earlier = turns.slice(0, turns.indexOf(turn)).filter(({ answer }) => answer);
    return earlier.map(({ text, clip, answer, answerClip }) => {
      const all = { text, clip, answer, answer_clip: answerClip };
      return Object.fromEntries(Object.entries(all).filter(([, value]) => value));
    });
  }

  /** Forgets the sounds that the app keeps no longer: those turns go on as text. */
  async dropLost() {
    for (const turn of this.#current.turns)
      for (const part of ["clip", "answerClip"]) if (turn[part] && (await lost(turn[part]))) turn[part] = null;
    this.store();
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
    return JSON.parse(sessionStorage.getItem(KEPT));
  } catch {
    return null;
  }
}

const lost = (clip) =>
  fetchClip(clip).then(
    () => false,
    (error) => Boolean(error.code),
  );
