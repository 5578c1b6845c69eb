/** An input of a task, with the line beside it that says what is wrong with it. */

import { button, make, say } from "./dom.js";

export class TaskField {
  /** @param {string} id
   *  @param {string} words Its label.
   *  @param {HTMLElement} [control] A text box, a list… */
  constructor(id, words, control = null) {
    this.id = id;
    this.control = control;
    this.element = make("div", "task-field");
    const name = this.element.appendChild(make(control ? "label" : "span", "lab-field", words));
    if (control) {
      name.append(control);
      control.id = `task-${id}`;
      control.setAttribute("aria-label", words); // a list's label would be read with all its entries
    }
    this.error = make("p", "lab-error");
    this.error.id = `task-${id}-error`;
    this.error.setAttribute("role", "alert");
    control?.setAttribute("aria-describedby", this.error.id);
    this.element.append(this.error);
    this.fail("");
  }

  /** What was put in; empty where nothing was, or where it is not asked for. */
  get value() {
    return this.element.hidden ? "" : this.control.value.trim();
  }

  /** Asks for it, or not. */
  show(on) {
    this.element.hidden = !on;
    if (!on) this.fail("");
  }

  /** Says what is wrong, beside it; no words when nothing is. */
  fail(words) {
    say(this.error, words);
    this.control?.setAttribute("aria-invalid", String(Boolean(words)));
  }

  /** Is done when what was put in is ready to be sent. */
  async settle() {}

  focus() {
    (this.control ?? this.element.querySelector("button")).focus();
  }

  /** Offers words that fill it: their names and themselves. */
  offer(title, presets) {
    const row = make("div", "take-buttons task-presets");
    row.setAttribute("role", "group");
    row.setAttribute("aria-label", title);
    for (const [name, words] of Object.entries(presets))
      row.append(button(name, `${title}: ${name}`, () => this.#fill(words)));
    this.error.before(row);
  }

  #fill(words) {
    this.control.value = words;
    this.control.dispatchEvent(new Event("input", { bubbles: true }));
    this.control.focus();
  }
}

/** @returns {TaskField} A box for a text of some lines. */
export function textField(id, words, rows, placeholder = "") {
  return new TaskField(id, words, Object.assign(make("textarea"), { rows, placeholder }));
}
