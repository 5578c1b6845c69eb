/** The composer's side in the browser: what Send carries, and the keys. */

const RECORDING_STOP = "#microphone .stop-button, #microphone .stop-button-paused";

export class Composer {
  #page;
  #stoppedAt = null;
  #sentAt = 0;

  constructor(page) {
    this.#page = page;
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.#page.stop();
    });
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
    document.querySelector("#send")?.click();
  }

  /** @returns {number} When the question ended, or was sent, in performance.now() ms. */
  get sentAt() {
    return this.#sentAt;
  }

  // Send while recording means: the recording is the message. Stopping it sends it.
  #onClick(event) {
    if (!event.isTrusted && !event.detail) return;
    const target = event.target.closest?.("#send, #microphone button");
    if (!target) return;
    const stop = [...document.querySelectorAll(RECORDING_STOP)].find((b) => b.offsetParent);
    if (target.matches(RECORDING_STOP)) this.#stoppedAt = performance.now();
    if (target.id === "send" && stop) {
      event.stopImmediatePropagation();
      event.preventDefault();
      stop.click();
    }
  }
}
