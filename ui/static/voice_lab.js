/** The voice lab: a text is spoken as it is, in takes that are compared and kept. */

import { BatchPanel } from "./batch.js";
import { BlindTest } from "./blind_test.js";
import { make } from "./dom.js";
import { KeptVoices } from "./kept_voices.js";
import { LabForm } from "./lab_form.js";
import { NotSpoken } from "./speech_stream.js";
import { Take } from "./take.js";
import { listVoices, onVoicesChanged } from "./voice_api.js";
import { VoiceKeeper } from "./voice_keeper.js";

const IN_A_CALL = "End the call first: the microphone would hear this.";

export class VoiceLab {
  #page;
  #player;
  #form = null;
  #takes = make("ol", "takes take-grid");
  #making = null;
  #judging = null;
  #count = 0;
  #made = 0;
  #engine = {};
  #blind;
  #keeper = new VoiceKeeper(() => this.#loadVoices());
  #keptVoices;

  /** @param {object} page
   *  @param {import("./player.js").Player} player */
  constructor(page, player) {
    this.#page = page;
    this.#player = player;
    this.#keptVoices = new KeptVoices(() => this.#loadVoices(), page.usedVoice);
    onVoicesChanged(() => this.#form && this.#loadVoices());
    this.#takes.setAttribute("aria-label", "Takes, newest first");
    this.#blind = new BlindTest({
      begin: () => this.#begin(),
      request: (voice) => ({ ...this.#form.requests()[0], voice: voice.id }),
      label: (voice) => this.#label(voice),
      play: (sound) => this.#play(sound),
    });
    player.addEventListener("ended", () => this.#form?.tell("", this.#busy));
  }

  /** Shows the lab in this element. */
  mount(host) {
    this.#form = new LabForm(
      () => this.speak(),
      () => this.stop(),
    );
    this.#form.tell("", false);
    this.#form.element.append(this.#takes);
    host.append(this.#form.element, this.#blind.element, this.#keeper.element, this.#keptVoices.element);
    host.append(new BatchPanel().element);
  }

  /** Takes in a message of the app. */
  follow(message) {
    if (message.type === "session.created") this.#engine = {}; // the app may be another one now
    if (message.type !== "omni.engine" || !this.#form || message.state === this.#engine.state) return;
    this.#engine = message;
    if (message.state !== "ready") return;
    this.#keeper.follow(message);
    this.#form.follow(message);
    this.#loadVoices();
  }

  /** Has the text spoken, in as many takes as are asked for. */
  async speak() {
    if (!this.#form.able) return;
    const signal = this.#begin();
    if (!signal) return;
    this.#judging?.abort();
    const label = this.#label(this.#form.voice);
    const made = [];
    for (const request of this.#form.requests()) {
      const take = await this.#make(request, label, signal);
      if (!take) break;
      made.push(take);
    }
    this.#form.tell("", this.#busy);
    this.#judging = new AbortController();
    for (const take of made) await take.quality.judge(this.#judging.signal);
  }

  /** Stops what is being made and heard; a take that is not whole is thrown away. */
  stop() {
    this.#making?.abort();
    this.#making = null;
    this.#player.drop(...this.#player.playing.filter((id) => id.startsWith("take-")));
    this.#form?.tell("", false);
  }

  get #busy() {
    return this.#player.playing.some((id) => id.startsWith("take-"));
  }

  #label({ name }) {
    return [name, this.#engine.name].filter(Boolean).join(", ");
  }

  /** Stops all else. @returns {AbortSignal | null} Of what is made now; null if nothing can be. */
  #begin() {
    this.stop();
    const problem = this.#page.call.on ? IN_A_CALL : this.#form.problem;
    this.#form.fail(problem);
    if (problem) return null;
    this.#player.flush();
    this.#making = new AbortController();
    return this.#making.signal;
  }

  async #make(request, label, signal) {
    const take = new Take(this.#newId(), (this.#made += 1), request, label, {
      play: (one) => (one.id = this.#play(one.sound)),
      compare: (one) => this.#blind.take(one),
      remove: (one) => this.#remove(one),
    });
    this.#takes.prepend(take.element);
    this.#form.tell("Waiting for the voice…", true);
    try {
      await take.sound.receive(request, signal, (piece) => this.#hear(take, piece));
      this.#player.end(take.id);
      take.tell();
      return take;
    } catch (error) {
      if (!(error instanceof NotSpoken) && error.name !== "AbortError") throw error;
      this.#remove(take);
      if (error instanceof NotSpoken) this.#form.fail(error.message);
      this.#form.tell("", this.#busy);
      return null;
    }
  }

  #hear(take, piece) {
    this.#player.begin(take.id, take.sound.rate);
    this.#player.push(take.id, piece);
    take.tell();
    this.#form.tell(`${take.sound.seconds.toFixed(1)} s made…`, true);
  }

  #newId() {
    return `take-${(this.#count += 1)}`;
  }

  /** Plays a sound from its beginning. @returns {string} Its name in the player. */
  #play(sound) {
    this.stop();
    this.#player.flush();
    const id = this.#newId();
    sound.play(this.#player, id);
    this.#form.tell("", true);
    return id;
  }

  #remove(take) {
    this.#player.drop(take.id);
    this.#blind.forget(take);
    take.element.remove();
  }

  async #loadVoices() {
    try {
      const voices = await listVoices();
      this.#form.showVoices(voices);
      this.#blind.showVoices(this.#form.voices);
      this.#keeper.showVoices(voices);
      this.#keptVoices.show(voices);
      this.#page.tasks.showVoices(voices);
    } catch (error) {
      if (!(error instanceof NotSpoken)) throw error;
      this.#form.fail(error.message);
    }
  }
}
