/** One text as the app speaks it once: the sound so far, and the file that it makes up. */

import { NotSpoken, speak } from "./speech_stream.js";
import { audioUrl } from "./voice_api.js";
import { ownerHeaders } from "./voice_owner.js";

const NO_SOUND = "There was nothing to be heard. Please try again.";

export class Sound {
  /** @type {Int16Array[]} Mono. */
  pieces = [];
  /** Samples a second; 0 until the first piece is there. */
  rate = 0;
  /** Seconds from asking to the first piece. */
  firstS = 0;
  /** @type {Blob | null} A WAV file, once all of it is there. */
  file = null;

  /** Seconds of sound so far. */
  get seconds() {
    return this.pieces.reduce((sum, piece) => sum + piece.length, 0) / (this.rate || 1);
  }

  /**
   * Has the app make it.
   * @param {object} request As the speech route takes it.
   * @param {AbortSignal} signal Ends it; then an `AbortError` is thrown.
   * @param {(piece: Int16Array) => void} heard Another piece is there.
   */
  async receive(request, signal, heard) {
    const askedAt = performance.now();
    const stream = await speak(audioUrl("speech"), request, ownerHeaders(), signal);
    for await (const piece of stream.pieces()) {
      this.firstS ||= (performance.now() - askedAt) / 1000;
      this.rate = stream.sampleRate;
      this.pieces.push(piece);
      heard(piece);
    }
    if (!this.rate) throw new NotSpoken(NO_SOUND);
    this.file = stream.file();
  }

  /** Plays what there is from a moment on, under a name that the player does not know yet. */
  play(player, id, fromS = 0) {
    player.begin(id, this.rate);
    let skip = Math.round(fromS * this.rate);
    for (const piece of this.pieces) {
      if (skip < piece.length) player.push(id, piece.subarray(skip));
      skip = Math.max(0, skip - piece.length);
    }
    if (this.file) player.end(id);
  }
}
