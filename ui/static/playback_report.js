/** Tells the app what of a reply has sounded: it must not take its own echo for the person. */

const EVERY_S = 0.25;

export class PlaybackReport {
  #send;
  #turnOf;
  #reportedS = new Map();
  #interrupted = new Set();

  /** @param {import("./player.js").Player} player
   *  @param {(message: object) => void} send
   *  @param {(replyId: string) => string | null} turnOf Whose reply sounds under this name. */
  constructor(player, send, turnOf) {
    this.#send = send;
    this.#turnOf = turnOf;
    player.addEventListener("started", ({ detail }) => this.#sounds(detail.replyId, 0));
    player.addEventListener("progress", ({ detail }) =>
      this.#sounds(detail.replyId, detail.playedSeconds),
    );
    player.addEventListener("ended", ({ detail }) => this.#ends(detail));
  }

  /** This reply is about to be flushed because the person speaks: the app is to forget the rest. */
  interrupt(replyId) {
    this.#interrupted.add(replyId);
  }

  #sounds(replyId, playedS) {
    if (playedS - (this.#reportedS.get(replyId) ?? -Infinity) < EVERY_S) return;
    this.#reportedS.set(replyId, playedS);
    this.#report(replyId, true, playedS);
  }

  #ends({ replyId, playedSeconds }) {
    if (this.#interrupted.delete(replyId)) this.#truncate(replyId, playedSeconds);
    if (this.#reportedS.delete(replyId)) this.#report(replyId, false, playedSeconds);
  }

  #truncate(turnId, playedS) {
    this.#send({
      type: "conversation.item.truncate",
      item_id: turnId,
      content_index: 0,
      audio_end_ms: Math.round(playedS * 1000),
    });
  }

  #report(replyId, playing, playedS) {
    const turnId = this.#turnOf(replyId);
    if (!turnId) return;
    const played = Math.round(playedS * 1000);
    this.#send({ type: "omni.playback", response_id: turnId, playing, played_ms: played });
  }
}
