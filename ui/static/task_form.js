/** What a task is given: only what it asks for is shown. */

import { make } from "./dom.js";
import { consentLine } from "./lab_fields.js";
import { recall, store } from "./lab_memory.js";
import { TaskClip } from "./task_clip.js";
import { TaskField, textField } from "./task_field.js";
import { TaskVoice } from "./task_voice.js";
import { DESCRIBED, QUESTIONS, STYLES } from "./task_words.js";

const MISSING = {
  text: "Write something first.",
  instruct: "Say how to speak first, or choose one of the styles.",
  voice: "Choose a voice, or give a recording of one.",
  clip: "Record something first, or choose a sound file.",
  question: "Ask something about the recording first.",
};

const INSTRUCTIONS = "Such as: You are a patient teacher.";

/** Why an earlier turn cannot be tried again with this task. */
const NOT_AGAIN = {
  text: "The words of that turn are not known: press Edit there, and add them.",
  clip: "That turn has no recording: choose Text to try it again.",
};

/** Which field a refusal of the app is about. */
const FIELDS = { voice_clip: "voice" };

export class TaskForm {
  #choice = null;
  #kind = null;

  constructor() {
    this.element = make("div", "task-form");
    const tokens = Object.assign(make("input"), { type: "number", min: 1, step: 1, placeholder: "the engine's own" });
    this.fields = {
      clip: new TaskClip("clip", "Recording", "Record"),
      text: textField("text", "Text", 3),
      instruct: textField("instruct", "How to speak", 2),
      voice: new TaskVoice(),
      question: textField("question", "Question", 2),
      system_prompt: textField("system_prompt", "Instructions to the assistant", 2, INSTRUCTIONS),
      max_tokens: new TaskField("max_tokens", "Longest reply, in tokens", tokens),
    };
    this.fields.instruct.offer("Style", STYLES);
    this.fields.question.offer("Sample question", QUESTIONS);
    this.#build();
    this.#remember();
  }

  #build() {
    const { clip, text, instruct, voice, question, system_prompt: prompt, max_tokens: tokens } = this.fields;
    this.element.append(clip.element, text.element, instruct.element, question.element, voice.element);
    this.thinking = consentLine(this.element, "Let it reason before it answers");
    this.more = this.element.appendChild(make("details", "lab-more"));
    const part = make("div", "task-more");
    this.more.append(make("summary", "", "More"), part);
    part.append(prompt.element, tokens.element);
  }

  /** Asks for what this choice takes.
   *  @param {object} choice One of `CHOICES`.
   *  @param {object} kind As the app tells it. */
  ask(choice, kind) {
    this.#choice = choice;
    this.#kind = kind;
    for (const [name, field] of Object.entries(this.fields))
      field.show(name === "max_tokens" || this.#takes(name));
    this.fields.voice.require(kind.required.includes("voice"));
    this.fields.text.control.placeholder = choice.key === "described" ? DESCRIBED : "";
    this.thinking.parentElement.hidden = !this.#thinkingVariant;
    this.thinking.checked = Boolean(choice.plain);
  }

  /** @param {object} [given] Text and recording of an earlier turn, in place of the fields'.
   *  @returns {Promise<object | null>} The request, as the route takes it; null where something is
   *  missing, which is said beside it. */
  async request(given = null) {
    for (const field of Object.values(this.fields)) field.fail("");
    await Promise.all(Object.values(this.fields).map((field) => field.settle()));
    const inputs = { ...this.#inputs(), ...given };
    const missing = this.#kind.required.find((name) => this.fields[name] && !inputs[name]);
    if (missing) {
      this.fail(missing, given ? NOT_AGAIN[missing] : MISSING[missing]);
      return null;
    }
    const { voice, max_tokens: tokens, ...others } = inputs;
    const wanted = { task: this.#choice.task, variant: this.#variant, ...others, ...voice, max_tokens: Number(tokens) };
    return Object.fromEntries(Object.entries(wanted).filter(([name, value]) => value && !this.#unused(name)));
  }

  /** Says what is wrong beside the field that it concerns. @returns {boolean} Whether there is one. */
  fail(param, words) {
    const field = this.#field(param);
    if (!field || field.element.hidden) return false;
    if (this.more.contains(field.element)) this.more.open = true;
    field.fail(words);
    field.focus();
    return true;
  }

  /** Fills the instructions to the assistant. */
  instruct(words) {
    this.fields.system_prompt.control.value = words;
    store("task-system_prompt", words);
  }

  /** Empties what was sent as a turn of a dialogue. */
  sent() {
    this.fields.clip.forget();
    this.fields.text.control.value = "";
    store("task-text", "");
  }

  /** Sends the recording again that the app calls so: it has forgotten it. */
  renew(param) {
    return this.#field(param).renew();
  }

  #field(param) {
    return this.fields[FIELDS[param] ?? param];
  }

  get #variant() {
    const { variant = "", thinking, plain } = this.#choice;
    if (!this.#thinkingVariant) return variant;
    return this.thinking.checked ? (thinking ?? "") : (plain ?? "");
  }

  get #thinkingVariant() {
    const { thinking, plain } = this.#choice;
    return (thinking ?? plain) in this.#kind.variants;
  }

  #inputs() {
    const values = Object.entries(this.fields).map(([name, field]) => [name, field.value]);
    const { voice } = this.fields;
    return { ...Object.fromEntries(values), voice: voice.value && voice.fields() };
  }

  #unused(name) {
    return name in this.fields && this.fields[name].element.hidden;
  }

  #takes(name) {
    return [...this.#kind.required, ...this.#kind.optional].includes(name);
  }

  #remember() {
    const texts = ["text", "instruct", "question", "system_prompt"].map((name) => [name, this.fields[name].control]);
    for (const [name, control] of texts) {
      control.value = recall(`task-${name}`) ?? "";
      control.addEventListener("input", () => store(`task-${name}`, control.value));
    }
  }
}
