/** The voice lab's form: what is to be spoken, in which voice, and how. */

import { button, make, say } from "./dom.js";
import { choices, field, number, range } from "./lab_fields.js";
import { recall, store } from "./lab_memory.js";

const CANNOT = "The engine that runs here speaks only its own replies, so there is nothing to try here.";
const NO_VOICE = "The engine that runs here speaks in voices that you keep: keep one below first.";
const NO_WORDS = "Write something to speak first.";
const NO_STYLE = "Describe the voice under Style first, such as: an old man, calm and hoarse.";
const DESIGNED = "As described under Style";
const MOST_TAKES = 4;

export class LabForm {
  #can = {};
  #recites = true;
  #fields;
  #counter;

  /** @param {() => void} speak The person wants to hear the text.
   *  @param {() => void} stop The person has heard enough. */
  constructor(speak, stop) {
    this.element = make("form", "lab");
    this.element.noValidate = true;
    this.cannot = this.element.appendChild(make("p", "aside"));
    this.#fields = this.#build();
    const row = this.element.appendChild(make("div", "take-buttons"));
    this.go = row.appendChild(button("Speak", "Speak this text", speak));
    this.halt = row.appendChild(button("Stop", "Stop speaking", stop));
    Object.assign(this.go, { id: "lab-speak", disabled: true });
    this.status = row.appendChild(make("span", "aside"));
    this.status.setAttribute("role", "status");
    this.element.addEventListener("submit", (event) => event.preventDefault());
    this.element.addEventListener("input", () => this.#changed());
    this.#fields.text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) speak();
    });
    this.#restore();
    this.fail("");
  }

  #build() {
    const text = field(this.element, "Text to speak", make("textarea"));
    Object.assign(text, { id: "lab-text", rows: 3 });
    this.error = this.element.appendChild(make("p", "lab-error"));
    this.error.setAttribute("role", "alert");
    const voice = field(this.element, "Voice", make("select"));
    const style = field(this.element, "Style", make("textarea"));
    Object.assign(style, { rows: 2, placeholder: "How to speak, such as: warm and slow" });
    this.#counter = style.parentElement.appendChild(make("span", "aside"));
    const more = this.element.appendChild(make("details", "lab-more"));
    more.append(make("summary", "", "More"));
    const rows = more.appendChild(make("div", "lab-grid"));
    return {
      text,
      voice,
      style,
      language: field(rows, "Language to speak", make("select")),
      speed: range(rows, "Speed", 0.5, 2, 0.05, 1),
      pitch: range(rows, "Pitch", -4, 6, 0.5, 0),
      temperature: number(rows, "Variation", 0.1, 2, 0.1, "the model's own"),
      seed: number(rows, "Seed", 0, 2 ** 32 - 1, 1, "another take each time"),
      takes: choices(rows, "Takes", MOST_TAKES),
    };
  }

  /** What is to be spoken. */
  get text() {
    return this.#fields.text.value;
  }

  /** What is wrong with the form, in words for people; empty when nothing is. */
  get problem() {
    const { style, temperature, seed } = this.#fields;
    if (!this.text.trim()) return NO_WORDS;
    if (shown(style) && this.voice.id === "default" && !style.value.trim()) return NO_STYLE;
    if (shown(seed) && !seed.checkValidity()) return "The seed is a whole number from 0 to 4,294,967,295.";
    return shown(seed) && !temperature.checkValidity() ? "The variation lies between 0.1 and 2." : "";
  }

  /** Whether there is anything to speak with. */
  get able() {
    return !this.go.disabled;
  }

  /** The voices that can be chosen: `{id, name}` each. */
  get voices() {
    return [...this.#fields.voice.options].map(({ value, textContent }) => ({ id: value, name: textContent }));
  }

  /** The chosen voice. */
  get voice() {
    return { id: this.#fields.voice.value, name: this.#fields.voice.selectedOptions[0]?.textContent ?? "" };
  }

  /** @returns {object[]} A request for each take, as the speech route takes them. */
  requests() {
    const { style, language, speed, pitch, temperature, seed, takes } = this.#fields;
    const request = { input: this.text, voice: this.voice.id || "default" };
    if (shown(speed)) request.speed = Number(speed.value);
    if (shown(pitch)) request.pitch = Number(pitch.value);
    if (shown(style) && style.value.trim()) request.instructions = style.value.trim();
    if (shown(language)) request.language = language.value;
    if (!shown(seed)) return Array.from({ length: Number(takes.value) }, () => request);
    if (temperature.value !== "") request.temperature = Number(temperature.value);
    return Array.from({ length: Number(takes.value) }, (_, number) =>
      seed.value === "" ? request : { ...request, seed: (Number(seed.value) + number) % 2 ** 32 },
    );
  }

  /** Shows what this engine can do, as the app tells it. */
  follow(engine) {
    this.#can = engine;
    this.#recites = engine.recites;
    const { style, language, speed, pitch, temperature, seed } = this.#fields;
    show(style, engine.style_chars > 0);
    show(speed, engine.changes_speed);
    show(pitch, engine.changes_pitch);
    show(temperature, engine.takes_sampling);
    show(seed, engine.takes_sampling);
    show(language, engine.voice_languages.length > 1);
    const names = new Intl.DisplayNames(["en"], { type: "language" });
    const named = (code) => (code === "auto" ? "The text's own" : names.of(code));
    const wanted = recall("language") ?? "auto";
    language.replaceChildren(
      ...engine.voice_languages.map((code) => new Option(named(code), code, false, code === wanted)),
    );
    this.#changed();
  }

  /** Takes in the voices that there are. */
  showVoices(voices) {
    const chosen = this.voice.id || recall("voice");
    const options = voices.filter(({ built_in: builtIn, usable }) => builtIn || usable);
    if (this.#can.voice_modes?.includes("design")) options.unshift({ id: "default", name: DESIGNED });
    this.#fields.voice.replaceChildren(
      ...options.map(({ id, name }) => new Option(name, id, false, id === chosen)),
    );
    const missing = options.length > 0 ? "" : NO_VOICE;
    say(this.cannot, this.#recites ? missing : CANNOT);
    this.go.disabled = !this.#recites || Boolean(missing);
  }

  /** Says what is wrong, beside the text. */
  fail(words) {
    say(this.error, words);
    this.#fields.text.setAttribute("aria-invalid", String(Boolean(words)));
  }

  /** Says what is going on, and whether it can be stopped. */
  tell(words, busy) {
    this.status.textContent = words;
    this.halt.disabled = !busy;
  }

  #changed() {
    const { style, speed, pitch } = this.#fields;
    name(speed, `Speed ${Number(speed.value).toFixed(2)}×`);
    name(pitch, `Pitch ${pitch.value > 0 ? "+" : ""}${pitch.value} semitones`);
    const count = [...style.value].length;
    this.#counter.textContent = `${count} of ${this.#can.style_chars ?? 0} characters`;
    this.#counter.classList.toggle("over", count > (this.#can.style_chars ?? count));
    for (const [key, control] of Object.entries(this.#fields))
      if (control.value || !control.matches("select")) store(key, control.value);
  }

  #restore() {
    for (const [key, control] of Object.entries(this.#fields)) {
      const kept = recall(key);
      if (kept !== undefined && !control.matches("select:empty")) control.value = kept;
    }
    this.#changed();
  }
}

const show = (control, on) => (control.parentElement.hidden = !on);
const shown = (control) => !control.parentElement.hidden;
const name = (control, words) => (control.previousElementSibling.textContent = words);
