/** The composer's side in the browser: what Send carries, when it counts, and the keys. */

/** Presses closer together than this, with nothing typed in between, are one press. */
const REPEAT_MS = 600;

const OPEN = "[aria-expanded=true]";

export class Composer {
  #page;
  #pressedAt = -Infinity;
  #endedAt = null;
  #sentAt = 0;
  #escapeTaken = false;

  constructor(page) {
    this.#page = page;
    document.addEventListener("keydown", (event) => this.#onKey(event), { capture: true });
    window.addEventListener("keydown", (event) => this.#onKeyLeft(event));
    document.addEventListener("input", () => (this.#pressedAt = -Infinity), { capture: true });
    document.addEventListener("click", (event) => this.#onClick(event), { capture: true });
  }

  /**
   * Puts this tab's session into the inputs of Send and notes the time.
   * @param {unknown[]} inputs The first of them is the session's place.
   */
  fill(inputs) {
    this.#sentAt = this.#endedAt ?? performance.now();
    this.#endedAt = null;
    this.#page.sent();
    return [this.#page.sessionId, ...inputs.slice(1)];
  }

  /**
   * Sends what the app has recorded.
   * @param {number} endedAt When the recording ended, in performance.now() ms.
   */
  sendRecording(endedAt) {
    this.#endedAt = endedAt;
    document.querySelector("#send").dispatchEvent(new CustomEvent("click", { bubbles: true }));
  }

  /** @returns {number} When the question ended, or was sent, in performance.now() ms. */
  get sentAt() {
    return this.#sentAt;
  }

  // Whether Escape is for a list or an input method is seen before they take it, and close.
  #onKey(event) {
    if (event.key === "Escape") this.#escapeTaken = event.isComposing || inOpenList(event.target);
    const sends = event.key === "Enter" && !event.shiftKey && event.target.closest?.("#message");
    if (sends && event.isComposing) event.stopImmediatePropagation();
    else if (sends && !this.#counts()) swallow(event);
  }

  #onKeyLeft(event) {
    if (event.key !== "Escape" || event.defaultPrevented || this.#escapeTaken) return;
    this.#page.escape();
  }

  #onClick(event) {
    const pressed = !(event instanceof CustomEvent) && event.target.closest?.("#send");
    if (pressed && !this.#counts()) swallow(event);
  }

  /** Whether a press of Send starts a turn; while recording it ends the recording instead. */
  #counts() {
    const repeated = performance.now() - this.#pressedAt < REPEAT_MS;
    this.#pressedAt = performance.now();
    if (repeated) return false;
    if (!this.#page.talk.recording) return true;
    this.#page.talk.finish();
    return false;
  }
}

function inOpenList(target) {
  return Boolean(target.closest?.("[role=listbox], [role=combobox], [role=menu]")?.matches(OPEN));
}

function swallow(event) {
  event.stopImmediatePropagation();
  event.preventDefault();
}
