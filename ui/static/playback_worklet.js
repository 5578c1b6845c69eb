/**
 * Plays replies, one after another, on the audio thread.
 *
 * Takes `begin`, `push`, `end` and `drop` messages, and reports `started`, `progress`, `underrun`
 * and `ended`; player.js is the other end. Sound waits in the order in which it came, as long as a
 * reply may be: nothing is dropped or written over, however far ahead of the ear it arrives.
 */

const START_BUFFER_S = 0.08;
const FLUSH_FADE_S = 0.008;
const UNDERRUN_FADE_S = 0.005;
const PROGRESS_INTERVAL_S = 0.1;

const ZERO_CROSSINGS = 32;
const PASSBAND = 0.92;
const KAISER_BETA = 8;

/** First in, first out; holds the chunks as they came, so that pushing copies nothing. */
class SampleQueue {
  #chunks = [];
  #offset = 0;

  /** Samples that wait. */
  length = 0;

  /** @param {Float32Array} chunk */
  push(chunk) {
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.length += chunk.length;
  }

  /** Take one sample; only when `length` is above zero. */
  shift() {
    const sample = this.#chunks[0][this.#offset];
    this.#advance(1);
    return sample;
  }

  /**
   * Take as many samples as there are, up to the end of `out`.
   * @param {Float32Array} out
   * @param {number} from index of the first sample to write
   * @returns {number} index after the last sample written
   */
  read(out, from) {
    let at = from;
    while (at < out.length && this.length > 0) {
      const piece = this.#chunks[0].subarray(this.#offset, this.#offset + out.length - at);
      out.set(piece, at);
      at += piece.length;
      this.#advance(piece.length);
    }
    return at;
  }

  #advance(count) {
    this.#offset += count;
    this.length -= count;
    if (this.#offset === this.#chunks[0].length) {
      this.#chunks.shift();
      this.#offset = 0;
    }
  }
}

function greatestCommonDivisor(a, b) {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

/** Modified Bessel function of the first kind, order zero. */
function besselI0(x) {
  let sum = 1;
  let term = 1;
  for (let k = 1; term > sum * 1e-12; k += 1) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

/**
 * One row of Kaiser-windowed sinc per output phase. Every row sums to one, so that a constant
 * stays constant.
 */
function sincRows(phases, half, cutoff) {
  const rows = [];
  for (let phase = 0; phase < phases; phase += 1) {
    const row = new Float32Array(2 * half);
    let sum = 0;
    for (let tap = 0; tap < row.length; tap += 1) {
      const distance = tap - (half - 1) - phase / phases;
      const angle = Math.PI * cutoff * distance;
      const window = besselI0(KAISER_BETA * Math.sqrt(Math.max(0, 1 - (distance / half) ** 2)));
      row[tap] = (angle === 0 ? 1 : Math.sin(angle) / angle) * window;
      sum += row[tap];
    }
    rows.push(row.map((weight) => weight / sum));
  }
  return rows;
}

/**
 * Turns one sample rate into another, by exact whole-number steps: no drift, and the same output
 * whatever the chunks its input came in.
 */
class Resampler {
  #half;
  #phases;
  #step;
  #rows;
  #line;
  #head = 0;
  #phase = 0;
  #missing;

  /**
   * @param {number} inputRate in hertz
   * @param {number} outputRate in hertz
   */
  constructor(inputRate, outputRate) {
    const divisor = greatestCommonDivisor(inputRate, outputRate);
    const shrink = Math.max(1, inputRate / outputRate);
    this.#half = Math.ceil(ZERO_CROSSINGS * shrink);
    this.#phases = outputRate / divisor;
    this.#step = inputRate / divisor;
    this.#rows = sincRows(this.#phases, this.#half, PASSBAND / shrink);
    // Written twice, half a length apart: any window of it can then be read in one straight run.
    this.#line = new Float32Array(4 * this.#half);
    this.#missing = this.#half + 1;
  }

  /**
   * Render from `queue` up to the end of `out`, or to where the input is spent.
   * @param {SampleQueue} queue
   * @param {boolean} padded true when no more input comes: silence then follows it
   * @param {Float32Array} out
   * @param {number} from index of the first sample to write
   * @returns {number} index after the last sample written
   */
  read(queue, padded, out, from) {
    for (let at = from; at < out.length; at += 1) {
      while (this.#missing > 0) {
        if (queue.length === 0 && !padded) return at;
        this.#take(queue.length > 0 ? queue.shift() : 0);
      }
      out[at] = this.#interpolate();
      this.#phase += this.#step;
      this.#missing = Math.floor(this.#phase / this.#phases);
      this.#phase %= this.#phases;
    }
    return out.length;
  }

  #take(sample) {
    const taps = 2 * this.#half;
    this.#line[this.#head] = sample;
    this.#line[this.#head + taps] = sample;
    this.#head = (this.#head + 1) % taps;
    this.#missing -= 1;
  }

  #interpolate() {
    const row = this.#rows[this.#phase];
    let sum = 0;
    for (let tap = 0; tap < row.length; tap += 1) sum += row[tap] * this.#line[this.#head + tap];
    return sum;
  }
}

/** One reply's sound: what waits, what was played, and the holes that were heard in it. */
class Reply {
  #queue = new SampleQueue();
  #inputRate;
  #resampler = null;
  #received = 0;
  #complete = false;
  #starved = null;
  #fadeIn = 0;

  id;
  /** True from when enough is buffered until it is spent. */
  flowing = false;
  underruns = 0;
  /** Output frames played. */
  frames = 0;

  constructor(id, inputRate) {
    this.id = id;
    this.#inputRate = inputRate;
    if (inputRate !== sampleRate) this.#resampler = new Resampler(inputRate, sampleRate);
  }

  push(samples) {
    if (this.#complete) return;
    this.#queue.push(samples);
    this.#received += samples.length;
  }

  complete() {
    this.#complete = true;
  }

  get playedSeconds() {
    return this.frames / sampleRate;
  }

  get finished() {
    return this.#complete && this.frames === this.#totalFrames;
  }

  /** True when there is enough to start on, or nothing more to wait for. */
  get ready() {
    return this.#complete || this.#queue.length >= START_BUFFER_S * this.#inputRate;
  }

  /**
   * Start, or go on after a hole.
   * @param {number} frame where in the context's time sound begins
   * @returns {number | null} seconds of the hole that was heard, or null when there was none
   */
  flow(frame) {
    this.flowing = true;
    const starved = this.#starved;
    this.#starved = null;
    if (starved === null) return null;
    this.#fadeIn = Math.round(UNDERRUN_FADE_S * sampleRate);
    // A late `end` is no hole: the listener had already heard everything.
    if (starved.received === this.#received) return null;
    this.underruns += 1;
    return (frame - starved.frame) / sampleRate;
  }

  /**
   * Render up to the end of `out`, of the reply, or of what has arrived.
   * @param {Float32Array} out
   * @param {number} from index of the first frame to write
   * @returns {number} index after the last frame written
   */
  render(out, from) {
    const room = this.#complete ? this.#totalFrames - this.frames : Infinity;
    const target = out.subarray(0, Math.min(out.length, from + room));
    const to = this.#resampler
      ? this.#resampler.read(this.#queue, this.#complete, target, from)
      : this.#queue.read(target, from);
    this.#fade(out, from, to);
    this.frames += to - from;
    return to;
  }

  /** @param {number} frame where in the context's time the sound ran out */
  starve(frame) {
    this.flowing = false;
    this.#starved = { frame, received: this.#received };
  }

  get #totalFrames() {
    return Math.ceil((this.#received * sampleRate) / this.#inputRate);
  }

  #fade(out, from, to) {
    const length = Math.round(UNDERRUN_FADE_S * sampleRate);
    for (let at = from; at < to && this.#fadeIn > 0; at += 1) {
      out[at] *= 1 - this.#fadeIn / length;
      this.#fadeIn -= 1;
    }
  }
}

/** Takes a flushed reply from full volume to none, in a few milliseconds of its own sound. */
class FadeOut {
  #reply;
  #length = Math.round(FLUSH_FADE_S * sampleRate);
  #done = 0;

  constructor(reply) {
    this.#reply = reply;
  }

  get finished() {
    return this.#done >= this.#length;
  }

  render(out, from) {
    const target = out.subarray(0, Math.min(out.length, from + this.#length - this.#done));
    const to = this.#reply.render(target, from);
    for (let at = from; at < to; at += 1) {
      this.#done += 1;
      out[at] *= 0.5 + 0.5 * Math.cos((Math.PI * this.#done) / this.#length);
    }
    if (to < target.length) this.#done = this.#length;
    return to;
  }
}

/** Lets sound that stops short sink to zero, where a step would click. */
class Release {
  #level = 0;
  #slope = 0;

  /** @param {number} sample the last one that was played */
  hold(sample) {
    this.#level = sample;
    this.#slope = sample / Math.round(UNDERRUN_FADE_S * sampleRate);
  }

  render(out, from) {
    for (let at = from; at < out.length; at += 1) {
      this.#level = Math.abs(this.#level) > Math.abs(this.#slope) ? this.#level - this.#slope : 0;
      out[at] = this.#level;
    }
  }
}

class PlaybackProcessor extends AudioWorkletProcessor {
  #replies = [];
  #fadeOut = null;
  #release = new Release();
  #reportedFrames = 0;

  constructor() {
    super();
    this.port.onmessage = ({ data }) => this.#receive(data);
  }

  process(_inputs, [[out]]) {
    const to = this.#renderReplies(out, this.#renderFadeOut(out));
    if (to > 0) this.#release.hold(out[to - 1]);
    this.#release.render(out, to);
    this.#reportProgress();
    return true;
  }

  #receive(message) {
    if (message.type === "drop") {
      this.#drop(message.replyIds);
    } else if (message.type === "begin") {
      this.#replies.push(new Reply(message.replyId, message.sampleRate));
    } else {
      const reply = this.#replies.find(({ id }) => id === message.replyId);
      if (message.type === "push") reply?.push(message.samples);
      else reply?.complete();
    }
  }

  #drop(replyIds) {
    const [playing] = this.#replies;
    const dropped = this.#replies.filter(({ id }) => replyIds.includes(id));
    if (playing?.flowing && dropped.includes(playing)) this.#fadeOut = new FadeOut(playing);
    for (const reply of dropped) this.#reportEnded(reply, true);
    this.#replies = this.#replies.filter((reply) => !dropped.includes(reply));
  }

  #renderFadeOut(out) {
    if (this.#fadeOut === null) return 0;
    const to = this.#fadeOut.render(out, 0);
    if (this.#fadeOut.finished) this.#fadeOut = null;
    return to;
  }

  #renderReplies(out, from) {
    let at = from;
    while (at < out.length && this.#replies.length > 0) {
      const [reply] = this.#replies;
      if (!reply.flowing && !this.#start(reply, currentFrame + at)) break;
      at = reply.render(out, at);
      if (reply.finished) {
        this.#replies.shift();
        this.#reportEnded(reply, false);
      } else if (at < out.length) {
        reply.starve(currentFrame + at);
      }
    }
    return at;
  }

  #start(reply, frame) {
    if (!reply.ready) return false;
    const first = reply.frames === 0;
    const holeSeconds = reply.flow(frame);
    if (reply.finished) return true;
    if (first) {
      this.#reportedFrames = 0;
      this.#report("started", reply, { contextTime: frame / sampleRate });
    }
    if (holeSeconds !== null) {
      this.#report("underrun", reply, { count: reply.underruns, holeSeconds });
    }
    return true;
  }

  #reportProgress() {
    const [reply] = this.#replies;
    if (!reply || reply.frames - this.#reportedFrames < PROGRESS_INTERVAL_S * sampleRate) return;
    this.#reportedFrames = reply.frames;
    this.#report("progress", reply, { playedSeconds: reply.playedSeconds });
  }

  #reportEnded(reply, flushed) {
    const { playedSeconds, underruns } = reply;
    this.#report("ended", reply, { playedSeconds, underruns, flushed });
  }

  #report(type, reply, detail) {
    this.port.postMessage({ type, replyId: reply.id, ...detail });
  }
}

registerProcessor("playback", PlaybackProcessor);
