/** Records what a node really puts out, sample by sample, whatever the sound device does. */

const BATCH_FRAMES = 1024;

class TapProcessor extends AudioWorkletProcessor {
  #batch = new Float32Array(BATCH_FRAMES);
  #filled = 0;

  process([[input]]) {
    if (input) this.#batch.set(input, this.#filled);
    this.#filled += 128;
    if (this.#filled === BATCH_FRAMES) {
      const firstFrame = currentFrame + 128 - BATCH_FRAMES;
      this.port.postMessage({ firstFrame, samples: this.#batch }, [this.#batch.buffer]);
      this.#batch = new Float32Array(BATCH_FRAMES);
      this.#filled = 0;
    }
    return true;
  }
}

registerProcessor("tap", TapProcessor);
