/** What was decided in a call, one tick each: to speak, or to stay silent, and why. */

import { make, say } from "./dom.js";

const MOST_TICKS = 60;

/** Per outcome of a turn: what is told of it. */
const DECISIONS = {
  answered: ["spoke", "Answered."],
  silent: ["silent", "Stayed silent."],
  cancelled: ["cut", "Was interrupted."],
  failed: ["failed", "Failed."],
};

export class CallTimeline {
  #reasons = new Map();
  #unasked = new Set();

  constructor() {
    this.element = make("div", "call-timeline");
    this.element.id = "call-timeline";
    this.ticks = this.element.appendChild(make("ol"));
    this.ticks.setAttribute("aria-label", "Decisions in this call");
    this.last = this.element.appendChild(make("p", "aside"));
    this.clear();
  }

  /** Begins anew. */
  clear() {
    this.#reasons.clear();
    this.#unasked.clear();
    this.ticks.replaceChildren();
    say(this.last, "");
    this.element.hidden = true;
  }

  /** Takes in a message of the app. */
  follow({ type, turn, response_id: turnId, reason, outcome }) {
    if (type === "omni.turn.created" && turn.unasked) this.#unasked.add(turn.id);
    if (type === "response.listen") this.#reasons.set(turnId, reason);
    if (type === "omni.utterance.dropped") this.#add("silent", `Stayed silent. ${reason}`);
    if (type === "response.done") this.#decide(turnId, outcome);
  }

  #decide(turnId, outcome) {
    const [kind, words] = DECISIONS[outcome];
    const unasked = this.#unasked.delete(turnId) ? "Looked by itself. " : "";
    const reason = this.#reasons.get(turnId) ?? "";
    this.#reasons.delete(turnId);
    this.#add(kind, `${unasked}${words} ${reason}`.trim());
  }

  #add(kind, words) {
    const tick = this.ticks.appendChild(make("li", "", ""));
    tick.dataset.kind = kind;
    const time = new Date().toLocaleTimeString();
    tick.title = `${time}: ${words}`;
    tick.setAttribute("aria-label", tick.title);
    while (this.ticks.childElementCount > MOST_TICKS) this.ticks.firstChild.remove();
    say(this.last, words);
    this.element.hidden = false;
  }
}
