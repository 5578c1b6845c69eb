/** Which model runs, for everybody who uses the app, and another one in its place. */

import { button, make, say } from "./dom.js";
import { field } from "./lab_fields.js";
import { answerOf, NotSpoken } from "./speech_stream.js";

export class ModelChooser {
  #engine = { state: "", message: "", progress: 0, pipeline: "", pipelines: [] };
  #asked = false;

  constructor() {
    this.element = make("div", "lab");
    this.list = field(this.element, "Model", make("select"));
    this.list.id = "model";
    this.list.addEventListener("change", () => this.#show());
    this.sure = this.element.appendChild(make("div", "lab-stack"));
    this.warning = this.sure.appendChild(make("p", "aside"));
    const row = this.sure.appendChild(make("div", "take-buttons"));
    this.yes = row.appendChild(button("", "", () => this.#change()));
    this.no = row.appendChild(button("", "", () => this.#keep()));
    this.progress = this.element.appendChild(make("progress"));
    this.progress.setAttribute("aria-label", "Loading the model");
    this.words = this.element.appendChild(make("p", "aside"));
    this.words.setAttribute("role", "status");
    this.error = this.element.appendChild(make("p", "lab-error"));
    this.error.setAttribute("role", "alert");
    this.#show();
  }

  /** Shows it in this element. */
  mount(host) {
    host.append(this.element);
  }

  /** Takes in a message of the app. */
  follow(message) {
    if (message.type !== "omni.engine") return;
    const { pipeline, pipelines } = this.#engine;
    this.#engine = message;
    const others = String(pipelines) !== String(message.pipelines);
    if (others)
      this.list.replaceChildren(...message.pipelines.map((name) => new Option(name, name)));
    // What is being chosen stays, until the model is another one or is about to be.
    if (others || pipeline !== message.pipeline) this.list.value = message.pipeline;
    this.#asked = false;
    this.#show();
  }

  async #change() {
    this.#asked = true;
    say(this.error, "");
    this.#show();
    try {
      await answerOf(() =>
        fetch(new URL("v1/engine", document.baseURI), {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify({ pipeline: this.list.value }),
        }),
      );
    } catch (error) {
      if (!(error instanceof NotSpoken)) throw error;
      this.#keep();
      say(this.error, error.message);
    }
  }

  #keep() {
    this.#asked = false;
    this.list.value = this.#engine.pipeline;
    say(this.error, "");
    this.#show();
    this.list.focus();
  }

  #show() {
    const { state, message, progress, pipeline } = this.#engine;
    const chosen = this.list.value;
    // It can be chosen while one is loaded, too: a server that is waited for may never come.
    this.list.disabled = this.#asked;
    this.sure.hidden = this.#asked || chosen === pipeline;
    this.warning.textContent =
      `Everyone's conversation waits while ${chosen} is loaded. What is being answered now has a ` +
      "minute to end.";
    tell(this.yes, `Change to ${chosen}`);
    tell(this.no, `Keep ${pipeline}`);
    this.progress.hidden = state !== "loading";
    this.progress.value = progress;
    say(this.words, message);
  }
}

function tell(element, words) {
  element.textContent = words;
  element.setAttribute("aria-label", words);
}
