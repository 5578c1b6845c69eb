/** The choice of a task, by plain names in groups. */

import { make, say } from "./dom.js";
import { recall, store } from "./lab_memory.js";
import { CHOICES, GROUPS } from "./task_words.js";

export class TaskChooser {
  #boxes = new Map();

  /** @param {(choice: object) => void} chosen */
  constructor(chosen) {
    this.chosen = chosen;
    this.element = make("div", "task-chooser");
    for (const { name, choices } of GROUPS) {
      const group = this.element.appendChild(make("fieldset", "task-group"));
      group.append(make("legend", "", name), ...choices.map((choice) => this.#line(choice)));
    }
    this.why = this.element.appendChild(make("p", "aside"));
    this.about = this.element.appendChild(make("p", "task-about"));
    say(this.why, "");
    say(this.about, "");
  }

  /** Offers what the engine does, as the app lists it. @returns {boolean} Whether it does anything. */
  offer(tasks) {
    const kinds = new Map(tasks.map((kind) => [kind.name, kind]));
    for (const choice of CHOICES) {
      const { available = false, variants = {} } = kinds.get(choice.task) ?? {};
      this.#boxes.get(choice.key).disabled = !available || (choice.variant && !(choice.variant in variants));
    }
    const reasons = tasks.filter(({ available }) => !available).map(({ why }) => why);
    say(this.why, [...new Set(reasons)].join(" "));
    return this.#settle();
  }

  /** Chooses what was chosen last, or else the first that there is. */
  #settle() {
    const open = CHOICES.filter(({ key }) => !this.#boxes.get(key).disabled);
    const now = open.find(({ key }) => this.#boxes.get(key).checked);
    const choice = now ?? open.find(({ key }) => key === recall("task")) ?? open[0];
    if (choice) this.#choose(choice);
    return Boolean(choice);
  }

  #line(choice) {
    const line = make("label", "task-choice");
    const box = line.appendChild(make("input"));
    Object.assign(box, { type: "radio", name: "omni-task", value: choice.key, disabled: true });
    box.addEventListener("change", () => {
      store("task", choice.key);
      this.#choose(choice);
    });
    line.append(make("span", "", choice.name));
    this.#boxes.set(choice.key, box);
    return line;
  }

  #choose(choice) {
    this.#boxes.get(choice.key).checked = true;
    say(this.about, choice.about);
    this.chosen(choice);
  }
}
