/**
 * Records the microphone and hands the sound on while it comes, so that nothing is left to be
 * uploaded when the person has finished.
 */

import { useSoundFor } from "./audio_session.js";

const WORKLET_URL = new URL("./capture_worklet.js", import.meta.url);

// Recognisers hear worse what a browser has cleaned.
const UNCLEANED = { noiseSuppression: false, autoGainControl: true };

/** For a recording during which nothing plays. */
export const IN_QUIET = { ...UNCLEANED, echoCancellation: false };

/** For one that goes on while replies sound: they are taken out of it. */
export const BESIDE_REPLIES = { ...UNCLEANED, echoCancellation: true };

const REFUSALS = {
  NotAllowedError:
    "The browser was not allowed to use the microphone. Allow it for this page, then try again.",
  NotFoundError: "No microphone was found. Plug one in, or choose a sound file instead.",
  NotReadableError: "The microphone is in use by another program.",
};

/** A suspended sound device never hands over its rest. */
const REST_DUE_MS = 300;

/** One recording: start it once, stop it once. */
export class Recorder {
  #take;
  #onLost;
  #constraints;
  #opened = null;

  /** @param {(samples: Float32Array, sampleRate: number) => void} take Gets each batch of sound,
   *  mono, at the device's own rate.
   *  @param {() => void} onLost The microphone was unplugged, or taken away by the browser.
   *  @param {MediaTrackConstraints} constraints `IN_QUIET` or `BESIDE_REPLIES`. */
  constructor(take, onLost, constraints) {
    this.#take = take;
    this.#onLost = onLost;
    this.#constraints = constraints;
  }

  /**
   * Start to record.
   * @throws {Error} with plain words when there is no microphone to be had
   */
  async start() {
    if (!navigator.mediaDevices?.getUserMedia)
      throw new Error("Browsers offer the microphone only on https pages and on localhost.");
    useSoundFor("play-and-record");
    try {
      this.#opened = await this.#open(await openMicrophone(this.#constraints));
    } catch (error) {
      useSoundFor("playback");
      throw error;
    }
  }

  /** Stop, hand on the last sound, and give the microphone back. */
  async stop() {
    const { stream, context, node } = this.#opened;
    await new Promise((resolve) => {
      setTimeout(resolve, REST_DUE_MS);
      node.port.onmessage = ({ data }) => {
        this.#take(data.samples, context.sampleRate);
        if (data.type === "rest") resolve();
      };
      node.port.postMessage("stop");
    });
    node.port.onmessage = null;
    close(stream);
    context.close().catch(() => {});
    useSoundFor("playback");
  }

  async #open(stream) {
    for (const track of stream.getTracks()) track.addEventListener("ended", this.#onLost);
    try {
      const context = new AudioContext();
      context.resume().catch(() => {});
      await context.audioWorklet.addModule(WORKLET_URL);
      return { stream, context, node: this.#listen(context, stream) };
    } catch (error) {
      close(stream);
      throw new Error(`The recorder could not be started: ${error.message}`);
    }
  }

  #listen(context, stream) {
    const node = new AudioWorkletNode(context, "capture", {
      channelCount: 1,
      channelCountMode: "explicit",
      numberOfOutputs: 0,
    });
    node.port.onmessage = ({ data }) => this.#take(data.samples, context.sampleRate);
    context.createMediaStreamSource(stream).connect(node);
    return node;
  }
}

function close(stream) {
  for (const track of stream.getTracks()) track.stop();
}

async function openMicrophone(constraints) {
  try {
    return await navigator.mediaDevices.getUserMedia({ audio: constraints });
  } catch (error) {
    throw new Error(REFUSALS[error.name] ?? `The microphone did not start: ${error.message}`);
  }
}
