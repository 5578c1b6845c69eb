/** What the model was sent, and how a program would ask for the same. */

import { button, make, say, seconds } from "./dom.js";
import { asCommand, asCurl, asPython } from "./task_code.js";

const PROGRAMS = [
  ["Python", asPython],
  ["command line", asCommand],
  ["curl", asCurl],
];

export class TaskSent {
  /** @param {import("./task_run.js").TaskRun} run */
  constructor(run) {
    this.run = run;
    this.element = make("details", "lab-more task-sent");
    this.element.append(make("summary", "", "What is sent"));
    const part = this.element.appendChild(make("div", "task-more"));
    this.prompt = part.appendChild(make("pre"));
    this.prompt.tabIndex = 0; // it scrolls
    this.prompt.setAttribute("aria-label", "Prompt");
    this.facts = part.appendChild(make("p", "aside"));
    const row = part.appendChild(make("div", "take-buttons"));
    for (const [name, write] of PROGRAMS)
      row.append(button(`Copy as ${name}`, `Copy as ${name}`, () => this.#copy(name, write)));
    this.status = row.appendChild(make("span", "aside"));
    this.status.setAttribute("role", "status");
    this.code = part.appendChild(make("pre"));
    this.code.tabIndex = 0;
    this.code.setAttribute("aria-label", "Program");
    this.code.hidden = true;
    this.render();
  }

  /** Shows what is known by now. */
  render() {
    const { request, sent } = this.run;
    this.element.hidden = !request.task;
    say(this.prompt, sent?.prompt ?? "");
    say(this.facts, sent ? factsOf(sent) : "");
  }

  async #copy(name, write) {
    const code = write(this.run.request, document.baseURI, this.run.engine);
    say(this.code, code);
    this.status.textContent = "";
    try {
      await navigator.clipboard.writeText(code);
      this.status.textContent = `Copied as ${name}.`;
    } catch {
      // The browser lets no page copy here; the program is shown, and can be marked by hand.
    }
  }
}

function factsOf({ clips_s: clips, sampling }) {
  const sounds = clips.map((length, at) => `Clip ${at + 1}: ${seconds(length)}`);
  const values = Object.entries(sampling).map(([name, value]) => `${name} ${value}`);
  return [...sounds, values.length ? `Sampling: ${values.join(", ")}` : ""].filter(Boolean).join(" · ");
}
