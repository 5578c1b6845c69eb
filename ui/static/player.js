/** Plays the assistant's replies while they are still being made. */

const WORKLET_URL = new URL("./playback_worklet.js", import.meta.url);
const BLOCKED_AFTER_MS = 400;

/**
 * How fast a reply falls silent when the person may be speaking, and comes back. Wholly silent, so
 * that who begins to speak hears nothing within 0.2 s; if it was a cough, little has been missed.
 */
const HUSH_S = 0.02;
const UNHUSH_S = 0.08;
const GESTURES = ["pointerdown", "keydown", "touchend"];

/**
 * Let every gesture on the page wake the player: browsers start sound only after one, and phones
 * take it away again during a call.
 * @param {Player} player
 * @returns {() => void} stops it
 */
export function unlockOnGesture(player) {
  const unlock = () => player.unlock();
  for (const gesture of GESTURES) document.addEventListener(gesture, unlock, { capture: true });
  return () => {
    for (const gesture of GESTURES) document.removeEventListener(gesture, unlock, { capture: true });
  };
}

/**
 * A queue of replies, each heard from its beginning, in the order in which they were begun.
 *
 * Events, all `CustomEvent`s with a `detail`:
 *
 * - `started` `{replyId, latencyMs}`: from the first push to the ear, as far as the device tells
 * - `progress` `{replyId, playedSeconds}`: about ten times a second
 * - `underrun` `{replyId, count, holeSeconds}`: sound came late; sent when it goes on
 * - `ended` `{replyId, playedSeconds, underruns, flushed}`: once per reply, whatever happens
 * - `blocked` `{}`: sound waits for a click, see `unlockOnGesture`
 * - `unsupported` `{reason}`: this page cannot play, with the reason in plain words
 */
export class Player extends EventTarget {
  #context = null;
  #node = null;
  #volume = null;
  #opened = null;
  #broken = false;
  #waiting = [];
  #replies = new Map();
  #past = new Set();

  constructor() {
    super();
    document.addEventListener("visibilitychange", this.#resumeWhenVisible);
  }

  /**
   * The last node before the loudspeaker, or null before the first `unlock` or `begin`.
   * @returns {AudioNode | null}
   */
  get output() {
    return this.#volume;
  }

  /** @returns {string[]} The replies that were begun and have not ended, in their order. */
  get playing() {
    return [...this.#replies.keys()];
  }

  /**
   * Make everything silent, or as loud as it was. What plays goes on.
   * @param {boolean} on
   */
  hush(on) {
    if (!this.#volume) return;
    const { gain, context } = this.#volume;
    const now = context.currentTime;
    gain.cancelScheduledValues(now);
    gain.setValueAtTime(gain.value, now);
    gain.linearRampToValueAtTime(on ? 0 : 1, now + (on ? HUSH_S : UNHUSH_S));
  }

  /**
   * Start or wake the sound device. Call it from a gesture.
   * @returns {Promise<void>} settles when the player is set up, or cannot be
   */
  unlock() {
    const opened = this.#open();
    this.#resume();
    return opened;
  }

  /**
   * Announce a reply. It is heard after those before it have ended or were flushed; one that was
   * begun before is left as it is.
   * @param {string} replyId
   * @param {number} sampleRate of all its sound, in hertz
   */
  begin(replyId, sampleRate) {
    if (this.#replies.has(replyId) || this.#past.has(replyId)) return;
    this.unlock();
    if (this.#broken) return;
    this.#replies.set(replyId, { pushedAt: null, playedSeconds: 0, underruns: 0 });
    this.#post({ type: "begin", replyId, sampleRate });
    this.#reportIfBlocked();
  }

  /**
   * Add sound to a reply; dropped when the reply has ended or was flushed.
   * @param {string} replyId
   * @param {Int16Array | Float32Array} pcm mono; stays the caller's
   */
  push(replyId, pcm) {
    const reply = this.#replies.get(replyId);
    if (!reply) return;
    reply.pushedAt ??= performance.now();
    const samples = toFloat32(pcm);
    this.#post({ type: "push", replyId, samples }, [samples.buffer]);
  }

  /**
   * Say that no more sound comes for a reply.
   * @param {string} replyId
   */
  end(replyId) {
    if (this.#replies.has(replyId)) this.#post({ type: "end", replyId });
  }

  /** Stop everything now. What still comes for these replies is dropped. */
  flush() {
    this.drop(...this.#replies.keys());
  }

  /**
   * Stop these replies now and refuse what still comes for them, their beginning included; others
   * are heard on.
   * @param {...string} replyIds
   */
  drop(...replyIds) {
    const begun = replyIds.filter((replyId) => this.#replies.has(replyId));
    for (const replyId of replyIds) this.#past.add(replyId);
    if (!this.#node) return this.#endNow(begun);
    for (const replyId of begun) this.#replies.delete(replyId);
    if (begun.length > 0) this.#post({ type: "drop", replyIds: begun });
  }

  /** Give the sound device back, for good. */
  async close() {
    document.removeEventListener("visibilitychange", this.#resumeWhenVisible);
    this.#broken = true;
    this.#endAll();
    await this.#context?.close();
  }

  #open() {
    if (this.#context?.state === "closed") this.#forgetContext();
    this.#opened ??= this.#setUp();
    return this.#opened;
  }

  async #setUp() {
    if (!window.isSecureContext) {
      this.#fail("Browsers play live sound only on https pages and on localhost.");
      return;
    }
    const context = new AudioContext({ latencyHint: "interactive" });
    this.#context = context;
    context.addEventListener("statechange", () => this.#reportIfBlocked());
    try {
      await context.audioWorklet.addModule(WORKLET_URL);
    } catch (error) {
      this.#fail(`The sound player could not be loaded: ${error.message}`);
      return;
    }
    this.#connect(context);
  }

  #fail(reason) {
    if (this.#broken) return;
    this.#broken = true;
    this.#endAll();
    this.#emit("unsupported", { reason });
  }

  #connect(context) {
    this.#node = new AudioWorkletNode(context, "playback", {
      numberOfInputs: 0,
      outputChannelCount: [1],
    });
    this.#node.port.onmessage = ({ data }) => this.#relay(data);
    this.#volume = new GainNode(context);
    this.#node.connect(this.#volume).connect(context.destination);
    for (const [message, transfer] of this.#waiting) this.#node.port.postMessage(message, transfer);
    this.#waiting = [];
  }

  #forgetContext() {
    this.#context = null;
    this.#node = null;
    this.#volume = null;
    this.#opened = null;
    this.#endAll();
  }

  #post(message, transfer = []) {
    if (this.#node) this.#node.port.postMessage(message, transfer);
    else this.#waiting.push([message, transfer]);
  }

  #resume() {
    // A refusal needs no handling: the state stays as it is, and `blocked` says so.
    if (this.#context?.state !== "running") this.#context?.resume().catch(() => {});
  }

  #resumeWhenVisible = () => {
    if (document.visibilityState === "visible") this.#resume();
  };

  #reportIfBlocked() {
    // A device that may play still takes a while to open.
    setTimeout(() => {
      const { state } = this.#context ?? {};
      const asleep = state === "suspended" || state === "interrupted";
      if (asleep && this.#replies.size > 0) this.#emit("blocked", {});
    }, BLOCKED_AFTER_MS);
  }

  #relay({ type, contextTime, ...detail }) {
    const reply = this.#replies.get(detail.replyId);
    if (type === "ended") {
      this.#replies.delete(detail.replyId);
      this.#past.add(detail.replyId);
    } else if (!reply) {
      return;
    }
    if (type === "started") detail.latencyMs = this.#heardAt(contextTime) - reply.pushedAt;
    if (type === "progress") reply.playedSeconds = detail.playedSeconds;
    if (type === "underrun") reply.underruns = detail.count;
    this.#emit(type, detail);
  }

  /** When a moment of the context's time reaches the ear, as `performance.now()` milliseconds. */
  #heardAt(contextTime) {
    const { currentTime, outputLatency = 0 } = this.#context;
    return performance.now() + (contextTime - currentTime + outputLatency) * 1000;
  }

  #endAll() {
    this.#endNow([...this.#replies.keys()]);
  }

  #endNow(replyIds) {
    this.#waiting = this.#waiting.filter(([{ replyId }]) => !replyIds.includes(replyId));
    const replies = replyIds.map((replyId) => [replyId, this.#replies.get(replyId)]);
    for (const [replyId, { playedSeconds, underruns }] of replies) {
      this.#replies.delete(replyId);
      this.#past.add(replyId);
      this.#emit("ended", { replyId, playedSeconds, underruns, flushed: true });
    }
  }

  #emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

function toFloat32(pcm) {
  const samples = new Float32Array(pcm);
  if (pcm instanceof Int16Array)
    for (let at = 0; at < samples.length; at += 1) samples[at] /= 32768;
  return samples;
}
