/** Tells when sound begins and when it has been quiet again, on the wall clock. */

const AUDIBLE = 1e-3;
const QUIET_S = 0.7;

class SoundOnsetProcessor extends AudioWorkletProcessor {
  #lastLoudFrame = null;

  process([[input]]) {
    const loud = input?.some((sample) => Math.abs(sample) > AUDIBLE);
    if (loud) {
      if (this.#lastLoudFrame === null) this.port.postMessage({ type: "onset", at: Date.now() });
      this.#lastLoudFrame = currentFrame;
    } else if (this.#lastLoudFrame !== null) {
      if (currentFrame - this.#lastLoudFrame < QUIET_S * sampleRate) return true;
      this.#lastLoudFrame = null;
      this.port.postMessage({ type: "quiet" });
    }
    return true;
  }
}

registerProcessor("sound-onset", SoundOnsetProcessor);
