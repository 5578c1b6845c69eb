/** The Talk button: press to record, press again to send; Escape throws the recording away. */

import { pcm16ToBase64 } from "./wav.js";
import { Recorder } from "./recorder.js";

const IDLE = "Talk";

export class TalkButton {
  #page;
  #recorder = new Recorder((samples, sampleRate) => this.#take(samples, sampleRate));
  #state = "idle";
  #since = 0;
  #clock = null;

  constructor(page) {
    this.#page = page;
  }

  /** @returns {boolean} True from the press that starts a recording to the one that ends it. */
  get recording() {
    return this.#state === "recording";
  }

  /** What a press of the button does. */
  press() {
    if (this.#state === "recording") return this.finish();
    return this.#state === "idle" ? this.#begin() : undefined;
  }

  /** Ends the recording and sends it. */
  async finish() {
    const endedAt = performance.now();
    await this.#end();
    this.#page.sendRecording(endedAt);
  }

  /** Ends the recording and throws it away. */
  async discard() {
    await this.#end();
    this.#page.send({ type: "input_audio_buffer.clear" });
  }

  async #begin() {
    this.#show("starting", "Starting…");
    this.#page.stop();
    this.#page.send({ type: "input_audio_buffer.clear" });
    try {
      await this.#recorder.start();
    } catch (error) {
      this.#show("idle", IDLE);
      this.#page.tell("microphone", error.message);
      return;
    }
    this.#page.tell("microphone", "");
    this.#since = performance.now();
    this.#clock = setInterval(() => this.#tick(), 250);
    this.#tick();
  }

  async #end() {
    clearInterval(this.#clock);
    this.#show("ending", "Sending…");
    await this.#recorder.stop();
    this.#show("idle", IDLE);
  }

  #take(samples, sampleRate) {
    const audio = pcm16ToBase64(samples);
    if (samples.length > 0)
      this.#page.send({ type: "input_audio_buffer.append", audio, sample_rate: sampleRate });
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
