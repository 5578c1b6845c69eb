/** The Talk button: press to record, press again to send; Escape throws the recording away. */

import { IN_QUIET, Recorder } from "./recorder.js";
import { pcm16ToBase64 } from "./wav.js";

const IDLE = "Talk";

const SHORTEST_S = 0.2;
const LEVEL_INTERVAL_MS = 120;

const TOO_SHORT = "That was too short. Press Talk, speak, then press it again to send.";
const NO_SOUND = "No sound came from the microphone. Check that it is not muted, then try again.";
const MICROPHONE_GONE = "The microphone was disconnected, so the recording ended there.";
const TORN = "The recording was lost with the connection. Please say it again.";

export class TalkButton {
  #page;
  #recorder = null;
  #state = "idle";
  #since = 0;
  #clock = null;
  #soundS = 0;
  #torn = false;
  #levelAt = 0;

  constructor(page) {
    this.#page = page;
  }

  /** @returns {boolean} True while the microphone is heard. */
  get recording() {
    return this.#state === "recording";
  }

  /** @returns {boolean} True from the press that starts a recording to its end. */
  get active() {
    return this.recording || this.#state === "starting";
  }

  /** @returns {boolean} True from the press that starts a recording until all of it is sent. */
  get busy() {
    return this.#state !== "idle";
  }

  /** Lets nobody press the button, or everybody again. */
  disable(disabled) {
    document.querySelector("#talk").disabled = disabled;
  }

  /** What a press of the button does. */
  press() {
    if (this.#state === "idle") return this.#begin();
    if (this.recording) return this.finish();
    if (this.#state === "starting") this.#giveUp(TOO_SHORT);
  }

  /** Ends the recording and sends it. */
  async finish() {
    const endedAt = performance.now();
    const pressedS = (endedAt - this.#since) / 1000;
    await this.#end();
    if (this.#torn) this.#reject(TORN);
    else if (pressedS < SHORTEST_S) this.#reject(TOO_SHORT);
    else if (this.#soundS < SHORTEST_S) this.#reject(NO_SOUND);
    else this.#page.sendRecording(endedAt);
  }

  /** Ends the recording and throws it away. */
  async discard() {
    if (this.#state === "starting") return this.#giveUp("");
    await this.#end();
    this.#reject("");
  }

  async #begin() {
    this.#show("starting", "Starting…");
    this.#page.stop();
    this.#page.send({ type: "input_audio_buffer.clear" });
    this.#soundS = 0;
    this.#torn = false;
    const recorder = new Recorder(
      (samples, sampleRate) => this.#recorder === recorder && this.#take(samples, sampleRate),
      () => this.#recorder === recorder && this.#lose(),
      IN_QUIET,
    );
    this.#recorder = recorder;
    try {
      await recorder.start();
    } catch (error) {
      if (this.#recorder === recorder) this.#giveUp(error.message);
      return;
    }
    if (this.#recorder === recorder) this.#began();
    else recorder.stop();
  }

  #began() {
    this.#page.tell("microphone", "");
    this.#since = performance.now();
    this.#clock = setInterval(() => this.#tick(), 250);
    this.#tick();
  }

  async #end() {
    clearInterval(this.#clock);
    this.#show("ending", "Sending…");
    await this.#recorder.stop();
    this.#recorder = null;
    this.#showLevel(0);
    this.#show("idle", IDLE);
  }

  /** Leaves a recording that has not started; its microphone is closed as soon as it opens. */
  #giveUp(words) {
    this.#recorder = null;
    this.#show("idle", IDLE);
    this.#page.tell("microphone", words);
  }

  #reject(words) {
    this.#page.send({ type: "input_audio_buffer.clear" });
    this.#page.tell("microphone", words);
  }

  async #lose() {
    if (this.#state === "starting") return this.#giveUp(MICROPHONE_GONE);
    if (!this.recording) return;
    await this.finish();
    this.#page.tell("microphone", MICROPHONE_GONE);
  }

  #take(samples, sampleRate) {
    if (samples.length === 0) return;
    const audio = pcm16ToBase64(samples);
    const message = { type: "input_audio_buffer.append", audio, sample_rate: sampleRate };
    if (!this.#page.send(message)) this.#torn = true;
    this.#soundS += samples.length / sampleRate;
    this.#follow(samples);
  }

  #follow(samples) {
    if (performance.now() - this.#levelAt < LEVEL_INTERVAL_MS) return;
    this.#levelAt = performance.now();
    // The square root lets quiet speech be seen beside loud speech.
    this.#showLevel(Math.sqrt(samples.reduce((peak, s) => Math.max(peak, Math.abs(s)), 0)));
  }

  #showLevel(level) {
    document.querySelector("#talk").style.setProperty("--level", Math.min(1, level).toFixed(2));
  }

  #tick() {
    const seconds = Math.floor((performance.now() - this.#since) / 1000);
    const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    this.#show("recording", `■ ${clock}`);
  }

  #show(state, words) {
    this.#state = state;
    const button = document.querySelector("#talk");
    button.dataset.state = state;
    button.textContent = words;
    button.setAttribute("aria-label", state === "recording" ? "Stop and send" : "Talk");
    button.setAttribute("aria-pressed", String(state === "recording"));
  }
}
