/** Scenes for the player's tests: each plays something and returns what came out. */

import { Player, unlockOnGesture } from "/static/player.js";

const EVENTS = ["started", "progress", "underrun", "ended", "blocked", "unsupported"];
const SILENCE_AFTER_FRAMES = 4096;

/** A player, everything that it says, and everything that comes out of it. */
class Rig {
  player = new Player();
  events = [];
  batches = [];
  frames = 0;
  firstFrame = null;

  constructor() {
    for (const type of EVENTS) {
      this.player.addEventListener(type, ({ detail }) => {
        this.events.push({ type, frame: this.frames, ...detail });
      });
    }
  }

  /** @param {number} contextRate the device's rate in hertz, or 0 for whatever it is */
  static async open(contextRate) {
    const rig = new Rig();
    await withDeviceRate(contextRate, () => rig.player.unlock());
    rig.context = rig.player.output.context;
    await rig.context.audioWorklet.addModule("/tap_worklet.js");
    const tap = new AudioWorkletNode(rig.context, "tap");
    tap.port.onmessage = ({ data }) => rig.#record(data);
    rig.player.output.connect(tap).connect(rig.context.destination);
    return rig;
  }

  #record({ firstFrame, samples }) {
    this.firstFrame ??= firstFrame;
    this.batches.push(samples);
    this.frames += samples.length;
  }

  say(id, rate, chunks) {
    this.player.begin(id, rate);
    for (const chunk of chunks) this.player.push(id, chunk);
    this.player.end(id);
  }

  has(type, id) {
    return this.events.some((event) => event.type === type && event.replyId === id);
  }

  /** Frames recorded since the first that was not silent. */
  get soundedFrames() {
    const before = this.batches.findIndex((batch) => batch.some((sample) => sample !== 0));
    return before < 0 ? 0 : this.frames - before * this.batches[0].length;
  }

  async recordMore(frames) {
    const goal = this.frames + frames;
    await until(() => this.frames >= goal);
  }

  async finish() {
    await this.recordMore(SILENCE_AFTER_FRAMES);
    const captured = new Float32Array(this.frames);
    this.batches.forEach((batch, index) => captured.set(batch, index * batch.length));
    await this.player.close();
    return {
      captured: toBase64(captured),
      events: this.events,
      rate: this.context.sampleRate,
      firstFrame: this.firstFrame,
    };
  }
}

async function withDeviceRate(rate, action) {
  const Native = window.AudioContext;
  if (rate) {
    window.AudioContext = class extends Native {
      constructor(options) {
        super({ ...options, sampleRate: rate });
      }
    };
  }
  try {
    await action();
  } finally {
    window.AudioContext = Native;
  }
}

async function until(condition) {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

function toBase64(samples) {
  const bytes = new Uint8Array(samples.buffer);
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return btoa(text);
}

function fromBase64(text) {
  return new Int16Array(Uint8Array.from(atob(text), (char) => char.charCodeAt(0)).buffer);
}

/** Cut sound into chunks whose sizes follow the given ones, over and over. */
function cut(samples, sizes) {
  const chunks = [];
  for (let at = 0; at < samples.length; at += chunks.at(-1).length) {
    chunks.push(samples.subarray(at, at + sizes[chunks.length % sizes.length]));
  }
  return chunks;
}

window.scenes = {
  /** Say replies that are complete from the start. */
  async say({ contextRate, replies }) {
    const rig = await Rig.open(contextRate);
    replies.forEach(({ rate, pcm, sizes }, index) => {
      rig.say(`r${index}`, rate, cut(fromBase64(pcm), sizes));
    });
    await until(() => rig.has("ended", `r${replies.length - 1}`));
    return rig.finish();
  },

  /** Say each reply only after the one before it has ended. */
  async sayInTurn({ contextRate, rate, pcm, times }) {
    const rig = await Rig.open(contextRate);
    for (let index = 0; index < times; index += 1) {
      rig.say(`r${index}`, rate, [fromBase64(pcm)]);
      await until(() => rig.has("ended", `r${index}`));
      await rig.recordMore(SILENCE_AFTER_FRAMES);
    }
    return rig.finish();
  },

  /** Let the sound run out after `firstSamples`, then bring the rest. */
  async sayWithHole({ contextRate, rate, pcm, firstSamples }) {
    const rig = await Rig.open(contextRate);
    const samples = fromBase64(pcm);
    rig.player.begin("r", rate);
    rig.player.push("r", samples.subarray(0, firstSamples));
    const spent = (firstSamples / rate) * contextRate + SILENCE_AFTER_FRAMES;
    await until(() => rig.soundedFrames >= spent);
    for (const chunk of cut(samples.subarray(firstSamples), [2000])) rig.player.push("r", chunk);
    rig.player.end("r");
    await until(() => rig.has("ended", "r"));
    return rig.finish();
  },

  /** Bring all the sound, but say that it was all only after it was heard. */
  async sayWithLateEnd({ contextRate, rate, pcm }) {
    const rig = await Rig.open(contextRate);
    const samples = fromBase64(pcm);
    rig.player.begin("r", rate);
    rig.player.push("r", samples);
    const spent = (samples.length / rate) * contextRate + SILENCE_AFTER_FRAMES;
    await until(() => rig.soundedFrames >= spent);
    rig.player.end("r");
    await until(() => rig.has("ended", "r"));
    return rig.finish();
  },

  /** Push the second chunk only once the first is heard; too little must wait for more. */
  async startOnFirstChunk({ contextRate, rate, pcm, firstSamples, tooFewSamples }) {
    const rig = await Rig.open(contextRate);
    const samples = fromBase64(pcm);
    rig.player.begin("r", rate);
    rig.player.push("r", samples.subarray(0, tooFewSamples));
    await rig.recordMore(2 * SILENCE_AFTER_FRAMES);
    const startedTooEarly = rig.has("started", "r");
    rig.player.push("r", samples.subarray(tooFewSamples, firstSamples));
    await until(() => rig.has("started", "r"));
    rig.player.push("r", samples.subarray(firstSamples));
    rig.player.end("r");
    await until(() => rig.has("ended", "r"));
    return { ...(await rig.finish()), startedTooEarly };
  },

  /** Interrupt two replies, bring late sound for them, then say a third. */
  async interrupt({ contextRate, rate, pcm, nextPcm }) {
    const rig = await Rig.open(contextRate);
    const samples = fromBase64(pcm);
    rig.player.begin("r0", rate);
    rig.player.push("r0", samples);
    rig.say("r1", rate, [samples]);
    await until(() => rig.has("progress", "r0"));
    const flushedAt = rig.context.currentTime;
    rig.player.flush();
    rig.player.push("r0", samples);
    rig.player.end("r0");
    rig.player.begin("r1", rate);
    rig.player.push("r1", samples);
    await until(() => rig.has("ended", "r1"));
    await rig.recordMore(contextRate / 2);
    const quietUntil = rig.frames;
    rig.say("r2", rate, [fromBase64(nextPcm)]);
    await until(() => rig.has("ended", "r2"));
    const result = await rig.finish();
    return { ...result, quietUntil, flushedFrame: flushedAt * contextRate - rig.firstFrame };
  },

  /** Drop the reply that sounds and one that has not begun; the one between them goes on. */
  async dropSome({ contextRate, rate, pcm, nextPcm }) {
    const rig = await Rig.open(contextRate);
    rig.player.begin("r0", rate);
    rig.player.push("r0", fromBase64(pcm));
    rig.say("r1", rate, [fromBase64(nextPcm)]);
    await until(() => rig.has("progress", "r0"));
    rig.player.drop("r0", "r2");
    rig.say("r2", rate, [fromBase64(pcm)]);
    await until(() => rig.has("ended", "r1"));
    return rig.finish();
  },

  /** Make a reply quiet while it sounds, then as loud as it was. */
  async hush({ contextRate, rate, pcm }) {
    const rig = await Rig.open(contextRate);
    rig.say("r", rate, [fromBase64(pcm)]);
    await until(() => rig.has("progress", "r"));
    const frameNow = () => rig.context.currentTime * contextRate - rig.firstFrame;
    rig.player.hush(true);
    const hushedFrame = frameNow();
    await rig.recordMore(contextRate / 2);
    rig.player.hush(false);
    const loudFrame = frameNow();
    await until(() => rig.has("ended", "r"));
    return { ...(await rig.finish()), hushedFrame, loudFrame };
  },

  /** Before any gesture: queue a reply, and wait for the player to ask for a click. */
  async sayBlocked({ rate, pcm }) {
    const rig = await Rig.open(0);
    window.blockedRig = rig;
    unlockOnGesture(rig.player);
    rig.say("r", rate, [fromBase64(pcm)]);
    await until(() => rig.events.length > 0);
    console.log(`first event: ${rig.events[0].type}`);
  },

  /** After the click that `sayBlocked` waits for. */
  async finishBlocked() {
    const rig = window.blockedRig;
    await until(() => rig.has("ended", "r"));
    return rig.finish();
  },

  /** Where there is no way to play: what the player says. */
  async sayUnsupported() {
    const rig = new Rig();
    rig.player.begin("r", 24000);
    await until(() => rig.events.some(({ type }) => type === "unsupported"));
    rig.say("later", 24000, [new Int16Array(2400)]);
    return rig.events;
  },
};

// A scene that is run from outside counts as a gesture; this one does not.
if (window.sceneAtLoad) window.scenes[window.sceneAtLoad.name](window.sceneAtLoad.arguments);
