/** One turn in the transcript: what was asked, what was seen, what was answered. */

import { button, make, say, seconds } from "./dom.js";

/** What a stage does, in words. */
export const WORKING = { hear: "Listening…", think: "Thinking…", speak: "Speaking…", "": "Sending…" };

const INTERRUPTED = "Interrupted.";

const ENDED = { cancelled: "Stopped.", failed: "" };

export class TurnView {
  /** @param {object} turn The turn as the server describes it.
   *  @param {{replay: (turnId: string) => void, wavUrl: (turnId: string) => string}} actions */
  constructor(turn, actions) {
    this.element = make("article", "turn");
    this.element.dataset.turnId = turn.id;
    this.asked = this.element.appendChild(make("div", "bubble asked"));
    this.text = this.asked.appendChild(make("p", "words"));
    this.heard = this.asked.appendChild(make("p", "words heard"));
    this.attachments = this.asked.appendChild(make("p", "aside"));
    this.scene = this.element.appendChild(make("details", "scene"));
    this.scene.appendChild(make("summary", "", "What was seen"));
    this.sceneText = this.scene.appendChild(make("p"));
    const answered = this.element.appendChild(make("div", "bubble answered"));
    this.working = answered.appendChild(make("p", "working"));
    this.reply = answered.appendChild(make("p", "words reply"));
    this.quiet = answered.appendChild(make("p", "quiet-mark"));
    this.notices = answered.appendChild(make("p", "aside notices"));
    this.remarks = answered.appendChild(make("p", "aside remarks"));
    this.remarks.hidden = true;
    this.failure = answered.appendChild(make("p", "failure"));
    this.footer = answered.appendChild(make("footer"));
    this.footer.append(
      button("▶ Replay", "Play this reply again", () => actions.replay(turn.id)),
      this.#downloadLink(actions.wavUrl(turn.id)),
    );
    this.numbers = this.footer.appendChild(make("span", "aside numbers"));
    this.show(turn);
  }

  /** Shows the turn as the server describes it now. */
  show(turn) {
    this.turn = turn;
    this.queued = "";
    this.render();
  }

  /** Says quietly, beside the reply, what the page has to say about it. */
  remark(text) {
    say(this.remarks, text);
  }

  #downloadLink(url) {
    const link = make("a", "quiet-button", "⤓ Download");
    link.href = url;
    link.download = "";
    link.setAttribute("aria-label", "Download this reply as a WAV file");
    return link;
  }

  /** Takes in one message about this turn and shows it. */
  apply(message) {
    const turn = this.turn;
    switch (message.type) {
      case "omni.transcription.updated":
      case "conversation.item.input_audio_transcription.completed":
        turn.transcript = message.transcript;
        break;
      case "omni.scene":
        turn.scene = message.text;
        break;
      case "response.output_audio_transcript.delta":
        turn.reply += message.delta;
        // Added, not written anew: a screen reader would begin the whole reply again.
        this.reply.append(message.delta);
        break;
      case "response.output_audio.delta":
        turn.has_sound = true;
        return;
      case "response.listen":
        turn.silence = message.reason;
        break;
      case "omni.notice":
        if (message.code === "queued") this.queued = message.text;
        else turn.notices.push(message.text);
        break;
      case "omni.stage.started":
        turn.stage = message.stage;
        this.queued = "";
        break;
      case "response.done":
        turn.outcome = message.outcome;
        turn.message = message.message;
        turn.metrics = message.metrics;
        // Only a failure that happens before the person's eyes is read out at once.
        if (turn.outcome === "failed") this.failure.setAttribute("role", "alert");
        break;
      default:
        return;
    }
    this.render();
  }

  /** The person spoke into the reply. */
  interrupt() {
    this.turn.interrupted = true;
    this.render();
  }

  /** Shows of the reply only what was heard of it before it was interrupted. */
  keep(reply) {
    this.turn.reply = reply;
    this.interrupt();
  }

  /** @param {number} firstSoundS Seconds from Send to the first sound, as the page measured it. */
  heardAfter(firstSoundS) {
    this.firstSoundS = firstSoundS;
    this.render();
  }

  render() {
    const turn = this.turn;
    say(this.text, turn.text);
    say(this.heard, turn.transcript);
    say(this.attachments, turn.attachments.join(" · "));
    this.asked.hidden = !(turn.text || turn.transcript || turn.attachments.length);
    say(this.sceneText, turn.scene);
    this.scene.hidden = !turn.scene;
    say(this.reply, turn.reply);
    const working = this.queued || (WORKING[turn.stage] ?? "Working…");
    say(this.working, turn.outcome || turn.reply || turn.interrupted ? "" : working);
    say(this.quiet, turn.silence ? `Stayed silent. ${turn.silence}` : "");
    say(this.notices, turn.notices.join(" "));
    const ended = turn.interrupted ? INTERRUPTED : ENDED[turn.outcome] ?? "";
    say(this.failure, turn.outcome === "failed" ? turn.message : ended);
    this.failure.classList.toggle("stopped", turn.outcome !== "failed");
    this.footer.hidden = !(turn.outcome && turn.has_sound);
    say(this.numbers, this.firstSoundS ? `first sound ${seconds(this.firstSoundS)}` : "");
    this.element.hidden = Boolean(turn.unasked && !turn.reply && turn.outcome !== "failed");
    this.element.dataset.outcome = turn.outcome ?? "";
    this.element.toggleAttribute("data-interrupted", Boolean(turn.interrupted));
    this.element.setAttribute("aria-busy", String(!turn.outcome));
  }
}
