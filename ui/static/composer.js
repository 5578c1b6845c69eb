/** The composer's side in the browser: what Send carries, when it counts, and the keys. */

const RECORDER_STOP = "#microphone .stop-button, #microphone .stop-button-paused";

/** Presses closer together than this, with nothing typed in between, are one press. */
const REPEAT_MS = 600;

/** A recording that has not arrived by then never will; Send works again. */
const RECORDING_LOST_MS = 10_000;

export class Composer {
  #page;
  #pressedAt = -Infinity;
  #stoppedAt = null;
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
    this.#sentAt = this.#stoppedAt ?? performance.now();
    this.#stoppedAt = null;
    return [this.#page.sessionId, ...inputs.slice(1)];
  }

  /** Sends what has just been recorded. */
  sendRecording() {
    this.#stoppedAt ??= performance.now();
    this.#pressedAt = -Infinity;
    document.querySelector("#send").dispatchEvent(new CustomEvent("click", { bubbles: true }));
  }

  /** @returns {number} When the question ended, or was sent, in performance.now() ms. */
  get sentAt() {
    return this.#sentAt;
  }

  #onKey(event) {
    if (event.key === "Escape") this.#page.stop();
    const sends = event.key === "Enter" && !event.shiftKey && event.target.closest?.("#message");
    if (sends && !this.#counts()) swallow(event);
  }

  #onClick(event) {
    if (event instanceof CustomEvent) return;
    if (event.target.closest?.(RECORDER_STOP)) this.#stoppedAt = performance.now();
    if (event.target.closest?.("#send") && !this.#counts()) swallow(event);
  }

  /** Whether a press of Send starts a turn; while recording it ends the recording instead. */
  #counts() {
    const now = performance.now();
    const repeated = now - this.#pressedAt < REPEAT_MS;
    const awaiting = this.#stoppedAt !== null && now - this.#stoppedAt < RECORDING_LOST_MS;
    this.#pressedAt = now;
    if (repeated || awaiting) return false;
    const stop = [...document.querySelectorAll(RECORDER_STOP)].find((b) => b.offsetParent);
    stop?.click();
    return !stop;
  }
}

function swallow(event) {
  event.stopImmediatePropagation();
  event.preventDefault();
}
