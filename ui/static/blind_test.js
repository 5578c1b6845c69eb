/** Two ways to speak one text, heard without knowing which is which, and a tally of what was liked. */

import { field } from "./lab_fields.js";
import { button, make, say } from "./dom.js";
import { Sound } from "./sound.js";
import { NotSpoken } from "./speech_stream.js";
import { Tally } from "./tally.js";

const ABOUT =
  "Two voices speak the text above, in an order that you are not told, and you say which one is better." +
  " Or press Compare on two takes, which may come from different engines.";
const ONE_VOICE = "There is only one voice here.";
const SAME_VOICE = "Choose two different voices.";
const OTHER_WORDS = "These two takes say different texts. Compare takes of one text.";
const PLACES = ["first", "second"];

export class BlindTest {
  #on;
  #sides = [];
  #heard = new Set();
  #picked = [];
  #tally = new Tally();

  /** @param {{begin: () => AbortSignal | null, request: (voice: object) => object,
   *    label: (voice: object) => string, play: (sound: Sound) => void}} on What the lab does for it. */
  constructor(on) {
    this.#on = on;
    this.element = make("details", "lab-section");
    this.element.id = "blind-test";
    this.element.append(make("summary", "", "Compare blind"));
    this.#build(this.element.appendChild(make("div", "lab-part")));
    this.#show();
  }

  #build(part) {
    part.append(make("p", "aside", ABOUT));
    const voices = part.appendChild(make("div", "lab-grid"));
    this.voices = ["One voice", "Other voice"].map((words) => field(voices, words, make("select")));
    const row = part.appendChild(make("div", "take-buttons"));
    this.start = row.appendChild(button("Speak both", "Speak the text in both voices", () => this.#speakBoth()));
    this.status = row.appendChild(make("span", "aside"));
    this.status.setAttribute("role", "status");
    this.error = part.appendChild(make("p", "lab-error"));
    this.error.setAttribute("role", "alert");
    this.round = part.appendChild(make("div", "take-buttons"));
    this.players = PLACES.map((place, side) => button(`▶ The ${place}`, `Hear the ${place}`, () => this.#play(side)));
    const better = (place, side) =>
      button(`The ${place} is better`, `The ${place} is better`, () => this.#decide(side));
    this.verdicts = PLACES.map(better);
    this.verdicts.splice(1, 0, button("No difference", "No difference", () => this.#decide(null)));
    this.round.append(...this.players, ...this.verdicts);
    this.reveal = part.appendChild(make("p"));
    this.reveal.setAttribute("role", "status");
    part.append(this.#tally.element);
    say(this.error, "");
  }

  /** Takes in the voices that can be chosen. */
  showVoices(voices) {
    this.all = voices;
    for (const [side, list] of this.voices.entries()) {
      const chosen = list.value || voices[side]?.id;
      list.replaceChildren(...voices.map(({ id, name }) => new Option(name, id, false, id === chosen)));
    }
    this.start.disabled = voices.length < 2;
    this.status.textContent = voices.length < 2 ? ONE_VOICE : "";
  }

  /** Takes a take in, or out again; with the second one the round begins. */
  take(take) {
    const picked = this.#picked.includes(take) ? this.#picked.filter((one) => one !== take) : [...this.#picked, take];
    this.#pick(picked);
    if (picked.length < 2) return;
    this.#pick([]);
    const [one, other] = picked;
    this.element.open = true;
    say(this.error, one.words === other.words ? "" : OTHER_WORDS);
    if (one.words !== other.words) return this.element.scrollIntoView({ block: "nearest" });
    this.#begin(picked.map(({ label, number, sound }) => ({ label, sound, take: `, take ${number}` })));
    this.players[0].focus();
  }

  /** A take is gone. */
  forget(take) {
    this.#pick(this.#picked.filter((one) => one !== take));
  }

  #pick(takes) {
    for (const take of this.#picked) take.compare.setAttribute("aria-pressed", "false");
    for (const take of takes) take.compare.setAttribute("aria-pressed", "true");
    this.#picked = takes;
  }

  async #speakBoth() {
    const chosen = this.voices.map((list) => this.all.find(({ id }) => id === list.value));
    say(this.error, chosen[0] === chosen[1] ? SAME_VOICE : "");
    if (chosen[0] === chosen[1]) return;
    const signal = this.#on.begin();
    if (!signal) return;
    this.#sides = [];
    this.#show();
    try {
      const sides = [];
      for (const voice of chosen) sides.push(await this.#speak(voice, signal));
      this.#begin(sides);
    } catch (error) {
      if (!(error instanceof NotSpoken) && error.name !== "AbortError") throw error;
      if (error instanceof NotSpoken) say(this.error, error.message);
    } finally {
      this.status.textContent = "";
    }
  }

  async #speak(voice, signal) {
    const sound = new Sound();
    await sound.receive(this.#on.request(voice), signal, () => {
      this.status.textContent = `${sound.seconds.toFixed(1)} s made…`;
    });
    return { label: this.#on.label(voice), sound };
  }

  #begin(sides) {
    this.#sides = Math.random() < 0.5 ? sides : [...sides].reverse();
    this.#heard.clear();
    this.reveal.textContent = "";
    this.#show();
  }

  #play(side) {
    this.#on.play(this.#sides[side].sound);
    this.#heard.add(side);
    this.#show();
  }

  #decide(side) {
    const [first, second] = this.#sides.map(({ label }) => label);
    // Of two takes in one voice neither voice is better.
    if (first !== second) this.#tally.count(first, second, side === null ? null : [first, second][side]);
    const [one, other] = this.#sides.map(({ label, take = "" }) => label + take);
    this.#sides = [];
    this.#show();
    this.reveal.textContent = `The first was ${one}, the second was ${other}.`;
  }

  #show() {
    this.round.hidden = this.#sides.length === 0;
    for (const verdict of this.verdicts) verdict.disabled = this.#heard.size < 2;
  }
}
