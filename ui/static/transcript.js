/** The transcript: every turn of the conversation, the newest in view. */

import { make } from "./dom.js";
import { TurnView } from "./turn_view.js";

const NEAR_END_PX = 80;

export class Transcript {
  #views = new Map();
  #actions;

  /** @param {HTMLElement} host Where to show it.
   *  @param {object} actions What the buttons of a turn do; see TurnView. */
  constructor(host, actions) {
    this.#actions = actions;
    this.list = host.appendChild(make("section", "transcript"));
    this.list.setAttribute("role", "log");
    this.list.setAttribute("aria-label", "Conversation");
    this.list.tabIndex = 0;
    this.empty = make("div", "empty");
    this.empty.append(
      make("p", "empty-title", "Say something, type, or show a video."),
      make("p", "aside", "The answer comes as text and as sound while it is still being made."),
    );
    this.reset([]);
  }

  /** Shows these turns and no others. */
  reset(turns) {
    this.#views.clear();
    this.list.replaceChildren(this.empty);
    for (const turn of turns) this.add(turn);
  }

  /** Adds a turn at the end. */
  add(turn) {
    const view = new TurnView(turn, this.#actions);
    this.#views.set(turn.id, view);
    this.empty.remove();
    this.list.append(view.element);
    this.list.scrollTop = this.list.scrollHeight;
  }

  /** @returns {TurnView | undefined} */
  find(turnId) {
    return this.#views.get(turnId);
  }

  /** Passes a message to the turn that it is about, and follows the text while in view. */
  apply(message) {
    const { scrollHeight, scrollTop, clientHeight } = this.list;
    const following = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
    this.#views.get(message.response_id)?.apply(message);
    if (following) this.list.scrollTop = this.list.scrollHeight;
  }
}
