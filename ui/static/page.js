/** The page: one socket, one player, and the views that show what they bring. */

import { Composer } from "./composer.js";
import { Player, unlockOnGesture } from "./player.js";
import { claimSessionId } from "./session_id.js";
import { RealtimeSocket } from "./socket.js";
import { StatusStrip } from "./status_strip.js";
import { TalkButton } from "./talk_button.js";
import { Transcript } from "./transcript.js";
import { pcm16FromBase64, pcm16FromWav } from "./wav.js";

const INSECURE =
  "This page was opened over plain http from another machine, so the browser offers no microphone, " +
  "no camera and no live sound. Open it over https, or on the machine itself as localhost. " +
  "Typing works, and replies can be downloaded.";

class Page {
  player = new Player();
  composer = new Composer(this);
  talk = new TalkButton(this);
  sessionId = "";
  socket = null;
  transcript = null;
  status = null;
  #sentAt = new Map();
  #underruns = 0;
  #notices = new Map();
  #recordedUntil = 0;

  constructor() {
    unlockOnGesture(this.player);
    this.player.addEventListener("started", ({ detail }) => this.#onSound(detail));
    this.player.addEventListener("underrun", () => this.status?.underran(++this.#underruns));
    this.player.addEventListener("progress", () => this.tell("blocked", ""));
    this.player.addEventListener("blocked", () =>
      this.tell("blocked", "Click or press any key to hear the reply."),
    );
    this.player.addEventListener("unsupported", ({ detail }) =>
      this.tell("sound", window.isSecureContext ? detail.reason : INSECURE),
    );
    if (!window.isSecureContext) this.tell("sound", INSECURE);
    claimSessionId().then((id) => this.#open(id));
  }

  /** Shows the transcript in this element. */
  mountTranscript(element) {
    this.transcript = new Transcript(element, {
      replay: (turnId) => this.replay(turnId),
      wavUrl: (turnId) => this.#wavUrl(turnId),
    });
    this.#reconnect();
  }

  /** Shows the status strip in this element. */
  mountStatus(element) {
    this.status = new StatusStrip(element, () => this.send({ type: "omni.engine.rebuild" }));
    this.#showNotices();
    this.#reconnect();
  }

  /** Silences the reply at once and stops the work on it. */
  stop() {
    this.player.flush();
    this.send({ type: "response.cancel" });
  }

  /** What the Escape key does: throw a recording away, else stop the reply. */
  escape() {
    if (this.talk.recording) this.talk.discard();
    else this.stop();
  }

  /** Begins a new conversation. */
  clear() {
    this.player.flush();
    this.send({ type: "omni.conversation.clear" });
  }

  /** Sends a message to the app; false when it cannot be reached now. */
  send(message) {
    return this.socket?.send(message) ?? false;
  }

  /**
   * Makes a turn of what the app has recorded, once the app says that all of it has arrived.
   * @param {number} endedAt When the recording ended, in performance.now() ms.
   */
  sendRecording(endedAt) {
    this.#recordedUntil = endedAt;
    if (!this.send({ type: "input_audio_buffer.commit" }))
      this.tell("microphone", "The recording was lost with the connection. Please say it again.");
  }

  /** Shows a notice on a topic, in place of the last one on it; no words take it away. */
  tell(topic, text) {
    if ((this.#notices.get(topic) ?? "") === text) return;
    this.#notices.set(topic, text);
    this.#showNotices();
  }

  /** Plays a finished reply again, in place of whatever sounds now. */
  async replay(turnId) {
    this.player.flush();
    const response = await fetch(this.#wavUrl(turnId));
    if (!response.ok) {
      this.tell("replay", "The sound of this reply is no longer kept.");
      return;
    }
    this.tell("replay", "");
    const { samples, sampleRate } = pcm16FromWav(await response.arrayBuffer());
    const replyId = `replay-${turnId}-${performance.now()}`;
    this.player.begin(replyId, sampleRate);
    this.player.push(replyId, samples);
    this.player.end(replyId);
  }

  #open(id) {
    this.sessionId = id;
    this.#reconnect();
  }

  // The three come in any order: the id, the transcript's place and the strip's.
  #reconnect() {
    if (this.socket || !this.sessionId || !this.transcript || !this.status) return;
    this.socket = new RealtimeSocket(this.sessionId);
    this.socket.addEventListener("message", ({ detail }) => this.#receive(detail));
    this.socket.addEventListener("open", () => this.tell("link", ""));
    this.socket.addEventListener("lost", () =>
      this.tell("link", "The connection to the app was lost; trying to reach it again…"),
    );
  }

  #receive(message) {
    switch (message.type) {
      case "session.created":
        this.transcript.reset(message.turns);
        break;
      case "omni.conversation.cleared":
        this.transcript.reset([]);
        this.status.begin();
        break;
      case "conversation.item.created":
        this.#begin(message.turn);
        break;
      case "omni.engine":
        this.status.showEngine(message);
        break;
      case "input_audio_buffer.committed":
        this.composer.sendRecording(this.#recordedUntil);
        break;
      case "omni.recording.full":
        this.tell("microphone", message.text);
        if (this.talk.recording) this.talk.finish();
        break;
      case "error":
        this.tell("error", message.error.message);
        break;
      case "response.output_audio.delta":
        this.player.begin(message.response_id, message.sample_rate);
        this.player.push(message.response_id, pcm16FromBase64(message.delta));
        this.transcript.apply(message);
        break;
      default:
        this.#follow(message);
    }
  }

  #begin(turn) {
    this.player.flush();
    this.#sentAt.set(turn.id, this.composer.sentAt);
    this.transcript.add(turn);
    this.status.begin();
  }

  #follow(message) {
    if (message.type === "omni.stage.started") this.status.started(message.stage);
    if (message.type === "omni.stage.timing") this.status.took(message.stage, message.total_s);
    if (message.type === "response.done") {
      this.player.end(message.response_id);
      this.status.end();
    }
    this.transcript.apply(message);
  }

  #onSound({ replyId, latencyMs }) {
    const sentAt = this.#sentAt.get(replyId);
    if (sentAt === undefined) return;
    const firstSoundS = (performance.now() - sentAt) / 1000;
    this.status.took("sound", latencyMs / 1000);
    this.status.heardAfter(firstSoundS);
    this.transcript.find(replyId)?.heardAfter(firstSoundS);
  }

  #wavUrl(turnId) {
    return new URL(`replies/${this.sessionId}/${turnId}.wav`, document.baseURI).href;
  }

  #showNotices() {
    this.status?.tell([...this.#notices.values()].filter(Boolean).join(" "));
  }
}

const page = new Page();
window.omni = page;

/** @param {HTMLElement} element */
export const mountTranscript = (element) => page.mountTranscript(element);

/** @param {HTMLElement} element */
export const mountStatus = (element) => page.mountStatus(element);
