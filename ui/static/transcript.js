/** The transcript: every turn of the conversation, the newest in view. */

import { make } from "./dom.js";
import { TurnView } from "./turn_view.js";

const NEAR_END_PX = 80;
const UNREAD_MS = 500;

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

  /** Shows these turns and no others; those that it shows already stay in their place. */
  reset(turns) {
    this.#keepUnread();
    const wanted = new Set(turns.map(({ id }) => id));
    for (const [id, view] of this.#views) if (!wanted.has(id)) this.#remove(id, view);
    if (turns.length === 0) this.list.replaceChildren(this.empty);
    for (const turn of turns) {
      if (this.#views.has(turn.id)) this.#views.get(turn.id).show(turn);
      else this.add(turn);
    }
  }

  /** Adds a turn at the end. */
  add(turn) {
    const view = new TurnView(turn, this.#actions);
    this.#views.set(turn.id, view);
    this.empty.remove();
    this.list.append(view.element);
    this.list.scrollTop = this.list.scrollHeight;
  }

  #remove(id, view) {
    this.#views.delete(id);
    view.element.remove();
  }

  /** What is brought back is no news: a screen reader is not to read it out. */
  #keepUnread() {
    this.list.setAttribute("aria-live", "off");
    clearTimeout(this.unread);
    this.unread = setTimeout(() => this.list.setAttribute("aria-live", "polite"), UNREAD_MS);
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
