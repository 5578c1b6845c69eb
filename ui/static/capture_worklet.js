/** Hands over what the microphone brings, in batches of about 20 ms. */

const BATCH_FRAMES = 1024;

class CaptureProcessor extends AudioWorkletProcessor {
  #batch = new Float32Array(BATCH_FRAMES);
  #filled = 0;

  constructor() {
    super();
    this.port.onmessage = () => this.#send("rest");
  }

  process([[input]]) {
    if (!input) return true;
    this.#batch.set(input, this.#filled);
    this.#filled += input.length;
    if (this.#filled === BATCH_FRAMES) this.#send("batch");
    return true;
  }

  #send(type) {
    const samples = this.#batch.subarray(0, this.#filled);
    this.port.postMessage({ type, samples });
    this.#filled = 0;
  }
}

registerProcessor("capture", CaptureProcessor);
