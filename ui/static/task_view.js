/** What comes of a piece of work, as it comes: reasoning, words, captions, sound, figures. */

import { button, make, say, seconds } from "./dom.js";
import { NotSpoken } from "./speech_stream.js";
import { TaskCaptions } from "./task_captions.js";
import { TaskFiles } from "./task_files.js";
import { TaskSent } from "./task_sent.js";

export class TaskView {
  #playback;

  /** @param {import("./task_run.js").TaskRun} run
   *  @param {import("./task_playback.js").TaskPlayback} playback */
  constructor(run, playback) {
    this.run = run;
    this.#playback = playback;
    this.element = make("div", "task-view");
    const add = (tag, className) => this.element.appendChild(make(tag, className));
    this.reasoning = add("details", "lab-more task-reasoning");
    this.reasoning.append(make("summary"), make("p", "words"));
    this.working = add("p", "working");
    this.working.setAttribute("role", "status");
    this.bar = add("progress", "task-bar");
    this.bar.setAttribute("aria-label", "How much is done");
    this.heard = add("p", "aside");
    this.words = add("p", "words task-words");
    this.captions = new TaskCaptions((from) => this.play(from));
    this.element.append(this.captions.element);
    this.notices = add("p", "aside");
    this.failure = add("p", "failure");
    this.failure.setAttribute("role", "alert");
    const buttons = add("div", "take-buttons");
    this.again = buttons.appendChild(button("▶ Play", "Play this answer", () => this.play(0)));
    this.files = new TaskFiles(run, (problem) => say(this.failure, problem));
    buttons.append(this.files.element);
    this.facts = add("p", "aside task-facts");
    this.meter = add("meter", "task-meter");
    this.meter.setAttribute("aria-label", "Tokens that were used of those that the model can take");
    this.sent = new TaskSent(run);
    this.element.append(this.sent.element);
    this.render();
  }

  /** Has the work done; its sound is heard while it comes. */
  async go(signal) {
    const { run } = this;
    this.#playback.play(run.sound, 0, (moment) => this.captions.mark(moment));
    try {
      await run.go(signal, () => this.render(), (piece) => this.#playback.push(run.sound, piece));
    } finally {
      this.#playback.end(run.sound);
    }
  }

  /** Plays its sound from a moment on. */
  async play(fromS) {
    say(this.failure, this.run.message);
    try {
      const sound = this.run.captioned;
      await sound.load();
      this.#playback.play(sound, fromS, (moment) => this.captions.mark(moment));
    } catch (error) {
      if (!(error instanceof NotSpoken)) throw error;
      say(this.failure, error.code ? "Its sound is no longer kept." : error.message);
      this.render();
    }
  }

  /** Silences it, where it is what sounds. */
  stop() {
    this.#playback.stop(this.run.captioned);
  }

  /** Shows what there is by now. */
  render() {
    const { run } = this;
    this.element.setAttribute("aria-busy", String(run.busy));
    this.#showReasoning();
    say(this.working, run.busy ? this.#doing() : "");
    this.bar.hidden = !run.busy || run.share === null;
    this.bar.value = run.share ?? 0;
    say(this.heard, run.heard ? `Heard: “${run.heard}”` : "");
    this.captions.show(run.cues);
    grow(this.words, run.cues.length ? "" : run.text.trimStart());
    say(this.notices, [...new Set(run.notices)].join(" "));
    if (!run.busy) this.#close();
  }

  #close() {
    const { run } = this;
    const stopped = run.outcome === "cancelled";
    this.failure.classList.toggle("stopped", stopped);
    say(this.failure, stopped ? "Stopped." : run.message);
    this.again.hidden = !run.captioned.there;
    this.files.render();
    say(this.facts, this.#facts().join(" · "));
    this.#showMeter();
    this.sent.render();
  }

  #doing() {
    const { share, doing, sound } = this.run;
    if (sound.rate) return `${sound.seconds.toFixed(1)} s made…`;
    return share === null ? doing : `${doing} ${Math.round(100 * share)} %`;
  }

  #showReasoning() {
    const { reasoning, reasoningS, busy, text, sound } = this.run;
    this.reasoning.hidden = !reasoning;
    const goesOn = busy && !text && !sound.rate;
    const took = reasoningS ? ` ${seconds(reasoningS)}` : "";
    this.reasoning.firstChild.textContent = goesOn ? `Reasoning…${took}` : took ? `Reasoned for${took}` : "Reasoning";
    grow(this.reasoning.lastChild, reasoning.trimStart());
  }

  #facts() {
    const { sound, sent, realTimeFactor: factor, outcome } = this.run;
    const tokens = sent ? `${sent.tokens} of ${sent.limit} tokens` : "";
    const left = sent?.left_out ? `${sent.left_out} of the oldest turns left out` : "";
    if (!sound.firstS) return [tokens, left].filter(Boolean);
    const speed = outcome === "answered" ? `real-time factor ${factor.toFixed(2)}` : "";
    const first = `first sound after ${seconds(sound.firstS)}`;
    return [seconds(sound.seconds), first, speed, tokens, left].filter(Boolean);
  }

  #showMeter() {
    const { sent } = this.run;
    this.meter.hidden = !sent;
    if (sent) Object.assign(this.meter, { max: sent.limit, high: 0.8 * sent.limit, value: sent.tokens });
  }
}

/** Shows a text that grows: what is there already is never written anew, nor read out again. */
function grow(element, text) {
  const shown = element.textContent;
  if (shown !== text) {
    if (shown && text.startsWith(shown)) element.append(text.slice(shown.length));
    else element.textContent = text;
  }
  element.hidden = !text;
}
