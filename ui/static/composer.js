/** The composer's side in the browser: what Send carries, when it counts, and the keys. */

/** Presses closer together than this, with nothing typed in between, are one press. */
const REPEAT_MS = 600;

export class Composer {
  #page;
  #pressedAt = -Infinity;
  #endedAt = null;
  #sentAt = 0;

  constructor(page) {
    this.#page = page;
    document.addEventListener("keydown", (event) => this.#onKey(event), { capture: true });
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

  #onKey(event) {
    if (event.key === "Escape") this.#page.escape();
    const sends = event.key === "Enter" && !event.shiftKey && event.target.closest?.("#message");
    if (sends && !this.#counts()) swallow(event);
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

function swallow(event) {
  event.stopImmediatePropagation();
  event.preventDefault();
}
