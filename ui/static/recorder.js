/**
 * Records the microphone and hands the sound on while it comes, so that nothing is left to be
 * uploaded when the person has finished.
 */

const WORKLET_URL = new URL("./capture_worklet.js", import.meta.url);

const CONSTRAINTS = { echoCancellation: true, noiseSuppression: true, autoGainControl: true };

const REFUSALS = {
  NotAllowedError:
    "The browser was not allowed to use the microphone. Allow it for this page, then try again.",
  NotFoundError: "No microphone was found. Plug one in, or choose a sound file instead.",
  NotReadableError: "The microphone is in use by another program.",
};

export class Recorder {
  #take;
  #opened = null;

  /** @param {(samples: Float32Array, sampleRate: number) => void} take Gets each batch of sound,
   *  mono, at the device's own rate. */
  constructor(take) {
    this.#take = take;
  }

  /**
   * Start to record.
   * @throws {Error} with plain words when there is no microphone to be had
   */
  async start() {
    if (!navigator.mediaDevices?.getUserMedia)
      throw new Error("Browsers offer the microphone only on https pages and on localhost.");
    this.#opened = this.#open();
    await this.#opened;
  }

  /** Stop, hand on the last sound, and give the microphone back. */
  async stop() {
    const { stream, context, node } = await this.#opened;
    await new Promise((resolve) => {
      node.port.onmessage = ({ data }) => {
        this.#take(data.samples, context.sampleRate);
        if (data.type === "rest") resolve();
      };
      node.port.postMessage("stop");
    });
    for (const track of stream.getTracks()) track.stop();
    await context.close();
  }

  async #open() {
    const stream = await openMicrophone();
    const context = new AudioContext();
    await context.audioWorklet.addModule(WORKLET_URL);
    const node = new AudioWorkletNode(context, "capture", {
      channelCount: 1,
      channelCountMode: "explicit",
      numberOfOutputs: 0,
    });
    node.port.onmessage = ({ data }) => this.#take(data.samples, context.sampleRate);
    context.createMediaStreamSource(stream).connect(node);
    return { stream, context, node };
  }
}

async function openMicrophone() {
  try {
    return await navigator.mediaDevices.getUserMedia({ audio: CONSTRAINTS });
  } catch (error) {
    throw new Error(REFUSALS[error.name] ?? `The microphone did not start: ${error.message}`);
  }
}
