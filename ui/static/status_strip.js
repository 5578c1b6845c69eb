/** The status strip: the four stages with their times, the first sound, underruns, the engine. */

import { button, make, say, seconds } from "./dom.js";

const STAGES = { hear: "Hear", think: "Think", speak: "Speak", sound: "Sound" };

const ENGINE = { loading: "loading", ready: "ready", failed: "failed", closed: "shut down" };

export class StatusStrip {
  #chips = new Map();

  /** @param {HTMLElement} host Where to show it.
   *  @param {() => void} retryEngine What "Try again" does after the engine has failed. */
  constructor(host, retryEngine) {
    const strip = host.appendChild(make("div", "strip"));
    strip.setAttribute("aria-label", "Status");
    const list = strip.appendChild(make("ol", "stages"));
    for (const [stage, name] of Object.entries(STAGES)) {
      const chip = list.appendChild(make("li", "chip"));
      chip.append(make("span", "chip-name", name), make("span", "chip-time", "–"));
      chip.dataset.stage = stage;
      this.#chips.set(stage, chip);
    }
    this.firstSound = strip.appendChild(make("span", "figure", "First sound –"));
    this.firstSound.dataset.figure = "first-sound";
    this.underruns = strip.appendChild(make("span", "figure", "Underruns 0"));
    this.underruns.dataset.figure = "underruns";
    this.engine = strip.appendChild(make("div", "engine"));
    this.engine.setAttribute("role", "status");
    this.engineWords = this.engine.appendChild(make("span"));
    this.progress = this.engine.appendChild(make("progress"));
    this.progress.setAttribute("aria-label", "Loading the engine");
    this.retry = this.engine.appendChild(
      button("Try again", "Load the engine again", retryEngine),
    );
    this.about = strip.appendChild(make("details", "about"));
    this.about.append(make("summary", "", "About this engine"), make("p"));
    this.notice = host.appendChild(make("p", "page-notice"));
    this.notice.setAttribute("role", "alert");
    this.notice.hidden = true;
    this.showEngine({ state: "loading", message: "Connecting", progress: 0, name: "", summary: "" });
  }

  /** Clears the stages for a new turn. */
  begin() {
    for (const stage of this.#chips.keys()) this.#show(stage, "idle", "–");
    this.firstSound.textContent = "First sound –";
  }

  /** A stage began to work. */
  started(stage) {
    this.#show(stage, "active", "…");
  }

  /** A stage is still at work; this share of it is done, 0 to 1. */
  progressed(stage, share) {
    this.#show(stage, "active", `${Math.round(share * 100)} %`);
  }

  /** Shows how far this turn has come, after the page was away from it. */
  restore({ stage, timings, outcome }) {
    if (stage && !outcome) this.started(stage);
    for (const timing of timings) this.took(timing.stage, timing.total_s);
    if (outcome) this.end();
  }

  /** A stage has produced its first output, or ended, after this many seconds. */
  took(stage, secondsTaken) {
    this.#show(stage, "done", seconds(secondsTaken));
  }

  /** No stage works any more. */
  end() {
    for (const [stage, chip] of this.#chips)
      if (chip.dataset.state === "active") this.#show(stage, "idle", "–");
  }

  heardAfter(secondsTaken) {
    this.firstSound.textContent = `First sound ${seconds(secondsTaken)}`;
  }

  underran(count) {
    this.underruns.textContent = `Underruns ${count}`;
    this.underruns.classList.toggle("bad", count > 0);
  }

  /** @param {{state: string, message: string, progress: number, name: string, summary: string}}
   *  status */
  showEngine({ state, message, progress, name, summary }) {
    this.engine.dataset.state = state;
    const details = message ? `: ${message}` : "";
    this.engineWords.textContent = `${name || "Engine"} ${ENGINE[state] ?? state}${details}`;
    say(this.about.lastChild, summary);
    this.about.hidden = !summary;
    this.progress.hidden = state !== "loading";
    this.progress.value = progress;
    this.retry.hidden = state !== "failed";
  }

  /** A word to everybody on this page, or none. */
  tell(text) {
    say(this.notice, text);
  }

  #show(stage, state, time) {
    const chip = this.#chips.get(stage);
    chip.dataset.state = state;
    chip.lastChild.textContent = time;
  }
}
