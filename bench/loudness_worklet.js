/** Tells the loudest sample of every 10 ms that the player puts out, on the wall clock. */

const BLOCK_S = 0.01;

class LoudnessProcessor extends AudioWorkletProcessor {
  #peak = 0;
  #frames = 0;

  process([[input]]) {
    for (const sample of input ?? []) this.#peak = Math.max(this.#peak, Math.abs(sample));
    this.#frames += 128;
    if (this.#frames >= BLOCK_S * sampleRate) {
      this.port.postMessage([Date.now(), this.#peak]);
      this.#peak = 0;
      this.#frames = 0;
    }
    return true;
  }
}

registerProcessor("loudness", LoudnessProcessor);
