/** The microphone of a call: what of its sound goes to the app, and when what was said ended. */

import { BESIDE_REPLIES, Recorder } from "./recorder.js";
import { pcm16ToBase64 } from "./wav.js";

/** Silence that follows what was being said when it was muted, so that the app hears its end. */
const MUTED_TAIL_S = 2;

const LEVEL_INTERVAL_MS = 70;

/** Further back than this no end of speech is noticed; it would be a mistake. */
const LATEST_NOTICE_MS = 5000;

export class LiveMicrophone {
  #send;
  #admits;
  #pictures;
  #showLevel;
  #onLost;
  #recorder = null;
  #open = false;
  #tailS = 0;
  #sentMs = 0;
  #sentAt = 0;
  #levelAt = 0;

  /** False while a push-to-talk button is up. */
  passing = true;

  /** False while muted. */
  muted = false;

  /** @param {object} of What the microphone needs of the call.
   *  @param {(message: object) => boolean} of.send
   *  @param {(sampleRate: number) => boolean} of.admits Whether sound can be sent in time now.
   *  @param {() => string[]} of.pictures What was seen since the last sound, as base64 JPEGs.
   *  @param {(level: number) => void} of.showLevel Told how loud it is, 0 to 1.
   *  @param {() => void} of.onLost The microphone was unplugged. */
  constructor({ send, admits, pictures, showLevel, onLost }) {
    this.#send = send;
    this.#admits = admits;
    this.#pictures = pictures;
    this.#showLevel = showLevel;
    this.#onLost = onLost;
  }

  /**
   * Opens the microphone.
   * @returns {Promise<boolean>} False when it was closed before it was open.
   * @throws {Error} with plain words when there is no microphone to be had
   */
  async open() {
    const recorder = new Recorder(
      (samples, sampleRate) => this.#recorder === recorder && this.#take(samples, sampleRate),
      () => this.#recorder === recorder && this.#onLost(),
      BESIDE_REPLIES,
    );
    this.#recorder = recorder;
    await recorder.start();
    this.#open = this.#recorder === recorder;
    if (!this.#open) recorder.stop();
    return this.#open;
  }

  /** Gives the microphone back. */
  close() {
    if (this.#open) this.#recorder.stop();
    this.#open = false;
    this.#recorder = null;
    this.muted = false;
    this.#showLevel(0);
  }

  /** Lets nothing more through, or everything again. */
  mute(muted) {
    this.muted = muted;
    this.#tailS = MUTED_TAIL_S;
  }

  /** The app begins to listen, and to count its time, anew. */
  restart() {
    this.#sentMs = 0;
  }

  /** @param {number} soundMs A place in the sound that was sent.
   *  @returns {number} When it was spoken, in performance.now() ms. */
  spokenAt(soundMs) {
    const agoMs = this.#sentMs - soundMs;
    const likely = agoMs >= 0 && agoMs < LATEST_NOTICE_MS;
    return likely ? this.#sentAt - agoMs : performance.now();
  }

  #take(samples, sampleRate) {
    if (samples.length === 0) return;
    const heard = this.passing && !this.muted;
    this.#follow(heard ? samples : []);
    if (!this.passing) return;
    if (this.muted && (this.#tailS -= samples.length / sampleRate) < 0) return;
    this.#append(heard ? samples : new Float32Array(samples.length), sampleRate);
  }

  #append(samples, sampleRate) {
    if (!this.#admits(sampleRate)) return;
    const message = {
      type: "input_audio_buffer.append",
      audio: pcm16ToBase64(samples),
      sample_rate: sampleRate,
    };
    const pictures = this.#pictures();
    if (pictures.length > 0) message.video_frames = pictures;
    if (!this.#send(message)) return;
    this.#sentMs += (samples.length / sampleRate) * 1000;
    this.#sentAt = performance.now();
  }

  #follow(samples) {
    if (performance.now() - this.#levelAt < LEVEL_INTERVAL_MS) return;
    this.#levelAt = performance.now();
    // The square root lets quiet speech be seen beside loud speech.
    this.#showLevel(Math.sqrt(samples.reduce((peak, s) => Math.max(peak, Math.abs(s)), 0)));
  }
}
