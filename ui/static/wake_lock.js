/** Keeps the screen on: a phone that goes dark takes the microphone and the camera away. */
export class WakeLock {
  #wanted = false;
  #lock = null;

  constructor() {
    // The browser takes the lock away whenever the page is out of sight.
    document.addEventListener("visibilitychange", () => this.#ask());
  }

  /** Keeps the screen on until `release`, as far as the browser can. */
  hold() {
    this.#wanted = true;
    this.#ask();
  }

  /** Lets the screen go dark again. */
  release() {
    this.#wanted = false;
    this.#lock?.release();
    this.#lock = null;
  }

  async #ask() {
    if (!this.#wanted || document.hidden) return;
    try {
      this.#lock = await navigator.wakeLock?.request("screen");
    } catch {
      return; // saving battery, say; the call goes on without
    }
    if (!this.#wanted) this.release();
  }
}
