/** The voice lab: a text is spoken as it is, in takes that are heard again and kept. */

import { button, make, say } from "./dom.js";
import { KeptVoices } from "./kept_voices.js";
import { field } from "./lab_fields.js";
import { NotSpoken, speak } from "./speech_stream.js";
import { Take } from "./take.js";
import { audioUrl, listVoices } from "./voice_api.js";
import { VoiceKeeper } from "./voice_keeper.js";
import { ownerHeaders } from "./voice_owner.js";

const KEPT = "omni-live-lab";
const NO_WORDS = "Write something to speak first.";
const IN_A_CALL = "End the call first: the microphone would hear this.";
const NO_SOUND = "There was nothing to be heard. Please try again.";
const CANNOT = "The engine that runs here speaks only its own replies, so there is nothing to try here.";

export class VoiceLab {
  #page;
  #player;
  #form = null;
  #abort = null;
  #take = null;
  #takes = 0;
  #ready = "";
  #keeper = new VoiceKeeper(() => this.#loadVoices());
  #keptVoices = new KeptVoices(
    () => this.#loadVoices(),
    () => this.#page.sessionId,
  );

  /** @param {object} page
   *  @param {import("./player.js").Player} player */
  constructor(page, player) {
    this.#page = page;
    this.#player = player;
    player.addEventListener("ended", ({ detail }) => {
      if (detail.replyId !== this.#take?.id) return;
      this.#take = null;
      this.#show();
    });
  }

  /** Shows the lab in this element. */
  mount(host) {
    const form = { root: host.appendChild(make("form", "lab")) };
    this.#form = form;
    form.root.noValidate = true;
    form.cannot = form.root.appendChild(make("p", "aside"));
    form.text = field(form.root, "Text to speak", make("textarea"));
    Object.assign(form.text, { id: "lab-text", rows: 3 });
    form.error = form.root.appendChild(make("p", "lab-error"));
    form.error.setAttribute("role", "alert");
    form.voice = field(form.root, "Voice", make("select"));
    form.speed = field(form.root, "Speed", make("input"));
    Object.assign(form.speed, { type: "range", min: "0.5", max: "2", step: "0.05", value: "1" });
    const row = form.root.appendChild(make("div", "take-buttons"));
    form.speak = row.appendChild(button("Speak", "Speak this text", () => this.speak()));
    form.stop = row.appendChild(button("Stop", "Stop speaking", () => this.stop()));
    form.speak.id = "lab-speak";
    form.status = row.appendChild(make("span", "aside"));
    form.status.setAttribute("role", "status");
    form.takes = form.root.appendChild(make("ol", "takes"));
    form.takes.setAttribute("aria-label", "Takes, newest first");
    host.append(this.#keeper.element, this.#keptVoices.element);
    form.root.addEventListener("submit", (event) => event.preventDefault());
    form.root.addEventListener("input", () => this.#changed());
    form.text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.speak();
    });
    this.#restore();
    this.#fail("");
    this.#show();
  }

  /** Takes in a message of the app. */
  follow(message) {
    if (message.type !== "omni.engine" || !this.#form || message.state === this.#ready) return;
    this.#ready = message.state;
    if (message.state !== "ready") return;
    const { recites, clones, changes_speed: changesSpeed } = message;
    this.#keeper.tellClones(clones);
    say(this.#form.cannot, recites ? "" : CANNOT);
    this.#form.speed.parentElement.hidden = !changesSpeed;
    this.#form.speak.disabled = !recites;
    this.#loadVoices().then((voices) => this.#keptVoices.restore(voices));
  }

  /** Has the text spoken, in a new take. */
  async speak() {
    const { text, voice, speed, takes, speak: speakButton } = this.#form;
    if (speakButton.disabled) return;
    this.stop();
    const problem = this.#page.call.on ? IN_A_CALL : text.value.trim() ? "" : NO_WORDS;
    this.#fail(problem);
    if (problem) return;
    const name = voice.selectedOptions[0]?.textContent ?? "";
    const id = `take-${(this.#takes += 1)}`;
    const take = new Take(id, text.value.trim(), name, this.#player, () => this.#playAgain(take));
    this.#player.flush();
    this.#take = take;
    takes.prepend(take.element);
    const request = { input: text.value, voice: voice.value || "default", speed: Number(speed.value) };
    await this.#follow(take, request);
  }

  /** Stops what is being spoken; what there is of it is thrown away unless it is whole. */
  stop() {
    this.#abort?.abort();
    this.#take?.stop();
    this.#take = null;
  }

  async #follow(take, request) {
    const abort = new AbortController();
    this.#abort = abort;
    this.#show("Waiting for the voice…");
    try {
      await this.#receive(take, request, abort.signal);
    } catch (error) {
      take.stop();
      take.element.remove();
      if (!(error instanceof NotSpoken) && error.name !== "AbortError") throw error;
      if (error instanceof NotSpoken) this.#fail(error.message);
    } finally {
      if (this.#abort === abort) this.#abort = null;
      this.#show();
    }
  }

  async #receive(take, request, signal) {
    const askedAt = performance.now();
    const stream = await speak(audioUrl("speech"), request, ownerHeaders(), signal);
    let firstS = 0;
    for await (const piece of stream.pieces()) {
      firstS ||= (performance.now() - askedAt) / 1000;
      take.push(piece, stream.sampleRate);
      this.#show(`${take.soundS.toFixed(1)} s made…`);
    }
    if (!take.soundS) throw new NotSpoken(NO_SOUND);
    take.finish(stream.file(), firstS);
  }

  #playAgain(take) {
    this.stop();
    this.#player.flush();
    this.#take = take;
    take.again(`take-${(this.#takes += 1)}`);
    this.#show();
  }

  async #loadVoices() {
    try {
      const voices = await listVoices();
      const chosen = this.#form.voice.value || this.#kept().voice;
      this.#form.voice.replaceChildren(
        ...voices
          .filter(({ built_in: builtIn, usable }) => builtIn || usable)
          .map(({ id, name }) => new Option(name, id, false, id === chosen)),
      );
      this.#keptVoices.show(voices);
      return voices;
    } catch (error) {
      if (!(error instanceof NotSpoken)) throw error;
      this.#fail(error.message);
      return [];
    }
  }

  #fail(words) {
    say(this.#form.error, words);
    this.#form.text.setAttribute("aria-invalid", String(Boolean(words)));
  }

  #show(words = "") {
    this.#form.status.textContent = words;
    this.#form.stop.disabled = !this.#abort && !this.#take;
  }

  #changed() {
    this.#tellSpeed();
    this.#keep();
  }

  #tellSpeed() {
    const { speed } = this.#form;
    speed.previousElementSibling.textContent = `Speed ${Number(speed.value).toFixed(2)}×`;
  }

  #keep() {
    const { text, voice, speed } = this.#form;
    const kept = { text: text.value, voice: voice.value, speed: speed.value };
    try {
      localStorage.setItem(KEPT, JSON.stringify(kept));
    } catch {
      // Blocked storage: the text lives as long as the page.
    }
  }

  #kept() {
    try {
      return JSON.parse(localStorage.getItem(KEPT)) ?? {};
    } catch {
      return {};
    }
  }

  #restore() {
    const { text = "", speed = "1" } = this.#kept();
    this.#form.text.value = text;
    this.#form.speed.value = speed;
    this.#tellSpeed();
  }
}
