/** One piece of work: what was asked, and all that has come of it so far. */

import { NotSpoken } from "./speech_stream.js";
import { runTask } from "./task_api.js";
import { TaskSound } from "./task_sound.js";
import { WORKING } from "./turn_view.js";
import { pcm16FromBase64, wavFileOfPcm16 } from "./wav.js";

export class TaskRun {
  sound = new TaskSound();
  text = "";
  reasoning = "";
  heard = "";
  /** @type {{start_s: number, end_s: number, text: string}[]} */
  cues = [];
  notices = [];
  /** What is being done now, in words. */
  doing = "Sending…";
  /** How much of it is done, 0 to 1; null where nobody knows. */
  share = null;
  /** What the model got, as the app tells it. */
  sent = null;
  /** Empty while it goes on. */
  outcome = "";
  message = "";
  /** Seconds that it has been reasoning, and that it worked in all. */
  reasoningS = 0;
  totalS = 0;
  /** Called when the app has taken the request. */
  onAccepted = () => {};
  #startedAt = 0;
  #recording = null;

  /** @param {object} request As the route takes it.
   *  @param {string} engine What does it, as the app calls it. */
  constructor(request, engine = "") {
    this.request = request;
    this.engine = engine;
  }

  /** @returns {TaskRun} An answer of former times. */
  static past({ answer, reasoning = "", cues = [], answerClip = null }) {
    const run = new TaskRun({});
    const sound = new TaskSound(answerClip);
    return Object.assign(run, { text: answer, reasoning, cues, sound, outcome: "answered", doing: "" });
  }

  /** Whether it goes on. */
  get busy() {
    return !this.outcome;
  }

  /** @returns {TaskSound} What the captions follow: the reply, or what was written down. */
  get captioned() {
    if (!this.sound.there && this.cues.length && this.request.clip)
      this.#recording ??= new TaskSound(this.request.clip);
    return this.#recording ?? this.sound;
  }

  /** Seconds of work for each second of sound; 0 where nothing was to be heard. */
  get realTimeFactor() {
    return this.sound.seconds ? this.totalS / this.sound.seconds : 0;
  }

  /**
   * Has it done. Throws `NotSpoken` where the app refuses a part of the request.
   * @param {AbortSignal} signal Ends it.
   * @param {() => void} changed There is more to be seen.
   * @param {(piece: Int16Array) => void} heard There is more to be heard.
   */
  async go(signal, changed, heard) {
    this.askedAt = performance.now();
    try {
      for await (const event of runTask(this.request, signal)) {
        this.onAccepted();
        this.onAccepted = () => {};
        this.#take(event, heard);
        changed();
      }
    } catch (error) {
      if (!(error instanceof NotSpoken) && error.name !== "AbortError") throw error;
      this.#end(error instanceof NotSpoken ? "failed" : "cancelled", error.message);
      if (error.param) throw error;
    } finally {
      changed();
    }
  }

  #take(event, heard) {
    const { type } = event;
    if (this.thoughtAt && !this.text && !this.sound.rate)
      this.reasoningS = (performance.now() - this.thoughtAt) / 1000;
    if (type === "queued") this.doing = event.text;
    if (type === "started") this.#start(event.stage);
    if (type === "progress") this.share = event.share;
    if (type === "sent") this.sent = event;
    if (type === "reasoning") {
      this.thoughtAt ??= performance.now();
      this.reasoning += event.delta;
    }
    if (type === "text") this.text += event.delta;
    if (type === "transcript") this.heard = event.text;
    if (type === "captions") this.cues = event.cues;
    if (type === "notice") this.notices.push(event.text);
    if (type === "audio") heard(this.#hear(event));
    if (type === "end") this.#end(event.outcome, event.message, event.clip);
  }

  #start(stage) {
    this.#startedAt ||= performance.now();
    this.doing = WORKING[stage] ?? this.doing;
    this.share = null;
  }

  #hear({ pcm, sample_rate: rate, clip }) {
    const piece = pcm16FromBase64(pcm);
    this.sound.clip = clip; // also of what is stopped in the middle
    this.sound.firstS ||= (performance.now() - this.askedAt) / 1000;
    this.sound.rate = rate;
    this.sound.pieces.push(piece);
    return piece;
  }

  #end(outcome, message, clip = this.sound.clip) {
    Object.assign(this, { outcome, message, doing: "", share: null });
    this.sound.clip = clip;
    this.totalS = (performance.now() - (this.#startedAt || this.askedAt)) / 1000;
    if (this.sound.rate) this.sound.file = wavFileOfPcm16(this.sound.pieces, this.sound.rate);
  }
}
