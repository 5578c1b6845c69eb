/** Follows the turn under way: what of it is shown, what sounds, and what a lost link took. */

import { Replay } from "./replay.js";
import { TurnWatch } from "./turn_watch.js";
import { pcm16FromBase64 } from "./wav.js";

const SOUND_MISSED =
  "Some of the sound may have been missed while the connection was away. " +
  "Replay plays all of it, once the reply has ended.";

export class Conversation {
  turns = new TurnWatch();
  /** @type {import("./transcript.js").Transcript} */
  transcript = null;
  /** @type {import("./status_strip.js").StatusStrip} */
  status = null;
  #player;
  #page;
  #replay;
  #sentAt = new Map();

  /** @param {object} page What the conversation needs of the page.
   *  @param {import("./player.js").Player} player */
  constructor(page, player) {
    this.#page = page;
    this.#player = player;
    this.#replay = new Replay(player, (text) => page.tell("replay", text));
  }

  /** Plays a finished reply again, in place of whatever sounds now. */
  replay(turnId) {
    this.#replay.play(turnId, this.#page.wavUrl(turnId));
  }

  /** Silences the turn under way, or the one that is awaited, for good. */
  stop() {
    this.turns.stop();
    this.#silence();
  }

  /** The person speaks: silences what sounds and the turn under way, of which the rest is not said. */
  interrupt() {
    const { current, underWay } = this.turns;
    const cutShort = underWay || this.#player.playing.includes(current);
    if (cutShort) this.transcript.find(current)?.interrupt();
    this.turns.interrupt();
    this.#silence();
  }

  /** @returns {string | null} The turn whose reply the player has under this name. */
  turnOf(replyId) {
    return this.transcript.find(replyId) ? replyId : this.#replay.turnId;
  }

  /** Shows that nothing is left. */
  clear() {
    this.turns.clear();
    this.transcript.reset([]);
    this.status.begin();
  }

  /** A new turn joined the conversation. */
  begin(turn) {
    this.#meet(turn, !turn.unasked);
    this.transcript.add(turn);
    if (this.turns.wasStopped(turn.id)) this.#page.stop();
  }

  /** Takes in a message about a turn. */
  follow(message) {
    const { type, stage } = message;
    if (type === "omni.stage.started") this.status.started(stage);
    if (type === "omni.stage.progress") this.status.progressed(stage, message.share);
    if (type === "omni.stage.timing") this.status.took(stage, message.total_s);
    if (type === "response.output_audio.delta") this.#play(message);
    if (type === "response.done") this.#end(message.response_id, message.outcome);
    if (type === "conversation.item.truncated")
      this.transcript.find(message.item_id)?.keep(message.reply);
    this.transcript.apply(message);
  }

  /** The player began a reply: measures how long after Send it is heard. */
  heard({ replyId, latencyMs }) {
    const sentAt = this.#sentAt.get(replyId);
    if (sentAt === undefined) return;
    const firstSoundS = (performance.now() - sentAt) / 1000;
    this.status.took("sound", latencyMs / 1000);
    this.status.heardAfter(firstSoundS);
    this.transcript.find(replyId)?.heardAfter(firstSoundS);
  }

  /** Takes the conversation up where the app has it now, after a connection was made. */
  restore(turns) {
    const { current, underWay, awaited } = this.turns;
    const newest = turns.at(-1);
    const known = newest !== undefined && newest.id === current;
    this.transcript.reset(turns);
    if (underWay && !known) this.#player.drop(current);
    if (!newest) return this.turns.clear();
    if (!known) this.#meet(newest, awaited);
    this.#catchUp(newest, known ? underWay : awaited);
  }

  /** @param {boolean} followed Whether this page waited for the turn, or heard it, until now. */
  #catchUp(turn, followed) {
    this.status.restore(turn);
    if (turn.outcome) this.#end(turn.id, turn.outcome);
    if (this.turns.wasStopped(turn.id)) {
      if (turn.outcome) this.#player.drop(turn.id);
      else this.#page.stop();
    } else if (turn.has_sound && turn.outcome !== "cancelled") {
      this.#makeUp(turn, followed);
    }
  }

  #makeUp(turn, followed) {
    const unheard = followed && !this.turns.sounded;
    if (unheard && turn.outcome === "answered") this.replay(turn.id);
    else if (followed || !turn.outcome) this.transcript.find(turn.id).remark(SOUND_MISSED);
  }

  #meet(turn, asked = true) {
    this.#silence();
    if (asked) this.#sentAt.set(turn.id, this.#page.composer.sentAt);
    this.turns.begin(turn.id);
    this.status.begin();
  }

  #play({ response_id: turnId, sample_rate: sampleRate, delta }) {
    this.turns.sound(turnId);
    this.#player.begin(turnId, sampleRate);
    this.#player.push(turnId, pcm16FromBase64(delta));
  }

  #end(turnId, outcome) {
    if (outcome === "cancelled") this.#player.drop(turnId);
    else this.#player.end(turnId);
    this.turns.done(turnId);
    this.status.end();
  }

  #silence() {
    this.#replay.cancel();
    this.#player.flush();
    // Its first sound may be on its way still.
    if (this.turns.current) this.#player.drop(this.turns.current);
  }
}
