/**
 * Whether the microphone's sound gets away in time. Sound that waits for a slow connection would come
 * later and later and be answered too late, so what cannot be sent soon is dropped, and that is told.
 */

/** Sound that may wait, in seconds; and what may be left of it before more is added. */
const TOO_LATE_S = 2;
const CLEARED_S = 0.5;

/** PCM16 in base64. */
const BYTES_PER_SAMPLE = (2 * 4) / 3;

/** How long it is told after it is over, so that it can be read. */
const REMAINS_MS = 4000;

export class Uplink {
  #unsentBytes;
  #tell;
  #slow = false;
  #remains = null;

  /** @param {() => number} unsentBytes What was given to the connection and has not left yet.
   *  @param {(slow: boolean) => void} tell Called when sound is being dropped, and when it is over. */
  constructor(unsentBytes, tell) {
    this.#unsentBytes = unsentBytes;
    this.#tell = tell;
  }

  /** @param {number} sampleRate Samples per second of the sound.
   *  @returns {boolean} Whether more of it can be sent in time; it is to be dropped else. */
  admits(sampleRate) {
    const waitsS = this.#unsentBytes() / (sampleRate * BYTES_PER_SAMPLE);
    const slow = waitsS > (this.#slow ? CLEARED_S : TOO_LATE_S);
    if (slow && !this.#slow) this.#begin();
    if (!slow && this.#slow) this.#remains = setTimeout(() => this.#tell(false), REMAINS_MS);
    this.#slow = slow;
    return !slow;
  }

  /** Another connection, on which nothing waits. */
  reset() {
    clearTimeout(this.#remains);
    this.#slow = false;
  }

  #begin() {
    clearTimeout(this.#remains);
    this.#tell(true);
  }
}
