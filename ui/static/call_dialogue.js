/** What is said in a call: who has the word, the captions, and the reply that is interrupted. */

import { CallActivity } from "./call_activity.js";
import { PlaybackReport } from "./playback_report.js";

/** How long it is shown why something that was said came to nothing. */
const REMARK_SHOWN_MS = 4000;

export class CallDialogue {
  #page;
  #player;
  #microphone;
  #caption;
  #changed;
  #activity;
  #report;
  #remark = null;

  /** @param {object} page What the dialogue needs of the page.
   *  @param {import("./player.js").Player} player
   *  @param {import("./live_microphone.js").LiveMicrophone} microphone
   *  @param {object} call What it does to the call.
   *  @param {(message: object) => void} call.send
   *  @param {(words: string, isAside?: boolean) => void} call.caption
   *  @param {() => void} call.changed */
  constructor(page, player, microphone, { send, caption, changed }) {
    this.#page = page;
    this.#player = player;
    this.#microphone = microphone;
    this.#caption = caption;
    this.#changed = changed;
    this.#activity = new CallActivity(player, changed);
    this.#report = new PlaybackReport(player, send, (id) => page.conversation.turnOf(id));
  }

  /** @returns {string} Who has the word; see CallActivity. */
  get state() {
    return this.#activity.state;
  }

  /** The person began to speak: the reply that sounds falls silent. */
  begin() {
    const { conversation } = this.#page;
    for (const replyId of this.#player.playing)
      if (conversation.transcript.find(replyId)) this.#report.interrupt(replyId);
    conversation.interrupt();
    this.#activity.personSpeaks();
    this.#say("");
  }

  /** The person has finished, at this time in performance.now() ms. */
  end(endedAt) {
    this.#player.hush(false);
    this.#activity.personEnds();
    this.#page.composer.askedAt(endedAt);
    this.#changed();
  }

  /** What was said came to nothing. */
  drop(reason) {
    this.#player.hush(false);
    this.#activity.utteranceDropped();
    this.#say(reason, true);
    this.#remark = setTimeout(() => this.#say(""), REMARK_SHOWN_MS);
    this.#changed();
  }

  /** Begins anew, with this turn under way, if any. */
  reset(turnId = null) {
    this.#activity.reset(turnId);
    this.#player.hush(false);
    this.#say("");
  }

  /** Takes in a message of the app, after the conversation has. */
  follow(message) {
    switch (message.type) {
      case "omni.speech.maybe":
        this.#player.hush(message.speaking);
        break;
      case "input_audio_buffer.speech_started":
        this.begin();
        break;
      case "omni.hearing":
        this.#say(message.transcript);
        break;
      case "input_audio_buffer.speech_stopped":
        this.end(this.#microphone.spokenAt(message.audio_end_ms));
        break;
      case "omni.utterance.dropped":
        this.drop(message.reason);
        break;
      case "omni.turn.created":
        this.#say(""); // the transcript has it now
        break;
    }
    this.#activity.follow(message);
  }

  #say(words, isAside = false) {
    clearTimeout(this.#remark);
    this.#caption(words, isAside);
  }
}
