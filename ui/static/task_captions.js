/** The words of a spoken answer: they follow the sound, and a press on some plays from there. */

import { make } from "./dom.js";

export class TaskCaptions {
  #cues = [];
  #lines = [];

  /** @param {(seconds: number) => void} seek */
  constructor(seek) {
    this.seek = seek;
    this.element = make("p", "task-captions");
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", "Captions. Press one to hear the answer from there.");
    this.element.hidden = true;
  }

  /** Shows these cues; those that are there already stay, and the last may have grown. */
  show(cues) {
    cues.forEach((cue, at) => {
      const line = this.#lines[at] ?? this.#add(at);
      if (line.textContent !== cue.text) line.textContent = cue.text;
    });
    for (const line of this.#lines.splice(cues.length)) line.remove();
    this.#cues = cues;
    this.element.hidden = cues.length === 0;
  }

  /** Marks what is heard at this moment; null marks nothing. */
  mark(seconds) {
    const at = seconds === null ? -1 : this.#cues.findLastIndex((cue) => cue.start_s <= seconds);
    this.#lines.forEach((line, number) => {
      if (number === at) line.setAttribute("aria-current", "true");
      else line.removeAttribute("aria-current");
    });
  }

  #add(at) {
    const line = make("span", "task-cue"); // a button would not break into lines
    line.setAttribute("role", "button");
    line.tabIndex = 0;
    const seek = () => this.seek(this.#cues[at].start_s);
    line.addEventListener("click", seek);
    line.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      seek();
    });
    this.element.append(line, " ");
    this.#lines.push(line);
    return line;
  }
}
