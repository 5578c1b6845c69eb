/** Plays a finished reply again. */

import { pcm16FromWav } from "./wav.js";

const UNREACHABLE = "The sound of this reply could not be fetched. Please try again in a moment.";

const GONE = "The sound of this reply is no longer kept.";

export class Replay {
  #player;
  #tell;
  #latest = 0;

  /** The turn whose reply was played last, or none. */
  turnId = null;

  /** @param {import("./player.js").Player} player
   *  @param {(text: string) => void} tell Says what went wrong, or with no words that all is well. */
  constructor(player, tell) {
    this.#player = player;
    this.#tell = tell;
  }

  /** Forgets a replay that is still being fetched. */
  cancel() {
    this.#latest += 1;
    this.#tell("");
  }

  /**
   * Plays a turn's WAV in place of whatever sounds now, unless another replay or a stop comes first.
   * @param {string} turnId
   * @param {string} url
   */
  async play(turnId, url) {
    this.cancel();
    this.turnId = turnId;
    const asked = this.#latest;
    this.#player.flush();
    const { sound, problem } = await fetchSound(url);
    if (asked !== this.#latest) return;
    this.#tell(problem ?? "");
    if (sound) this.#say(`replay-${asked}`, sound);
  }

  #say(replyId, { samples, sampleRate }) {
    this.#player.begin(replyId, sampleRate);
    this.#player.push(replyId, samples);
    this.#player.end(replyId);
  }
}

async function fetchSound(url) {
  try {
    const response = await fetch(url);
    if (response.status === 404) return { problem: GONE };
    if (!response.ok) return { problem: UNREACHABLE };
    return { sound: pcm16FromWav(await response.arrayBuffer()) };
  } catch {
    return { problem: UNREACHABLE };
  }
}
