/** What came of a task that was run once. */

import { button, make } from "./dom.js";
import { TaskView } from "./task_view.js";

const TITLE_CHARS = 160;

export class TaskCard {
  /** @param {import("./task_run.js").TaskRun} run
   *  @param {string} name Of the task, for people.
   *  @param {import("./task_playback.js").TaskPlayback} playback
   *  @param {string} tag Of the element. */
  constructor(run, name, playback, tag = "li") {
    const { question, text = "" } = run.request;
    const asked = question ?? text;
    const title = asked.length > TITLE_CHARS ? `${asked.slice(0, TITLE_CHARS)}…` : asked;
    this.view = new TaskView(run, playback);
    this.element = make(tag, "take task-card");
    const head = this.element.appendChild(make("div", "task-card-head"));
    head.append(make("strong", "", name), button("Remove", `Remove this result of ${name}`, () => this.#remove()));
    if (title) this.element.append(make("p", "aside", `“${title}”`));
    this.element.append(this.view.element);
  }

  #remove() {
    this.view.stop();
    const pair = this.element.closest(".task-pair");
    this.element.remove();
    if (pair && !pair.hasChildNodes()) pair.remove();
  }
}
