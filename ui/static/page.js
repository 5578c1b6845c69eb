/** The page: one socket, one player, and the conversation that they carry. */

import { useSoundFor } from "./audio_session.js";
import { Call } from "./call.js";
import { Composer } from "./composer.js";
import { Conversation } from "./conversation.js";
import { ModelChooser } from "./model_chooser.js";
import { Notices } from "./notices.js";
import { Player, unlockOnGesture } from "./player.js";
import { claimSessionId } from "./session_id.js";
import { CLOSED_FULL, CLOSED_IDLE, RealtimeSocket } from "./socket.js";
import { StatusStrip } from "./status_strip.js";
import { TalkButton } from "./talk_button.js";
import { TaskPanel } from "./task_panel.js";
import { Transcript } from "./transcript.js";
import { UsedVoice } from "./used_voice.js";
import { VoiceLab } from "./voice_lab.js";

const INSECURE =
  "This page was opened over plain http from another machine, so the browser offers no microphone, " +
  "no camera and no live sound. Open it over https, or on the machine itself as localhost. " +
  "Typing works, and replies can be downloaded.";

const ONLY_SPEAKS =
  "The engine that runs here speaks texts as they are, and answers no questions. Open the Voice lab.";
const ONLY_TASKS = "The engine that runs here does single tasks, and answers no questions. Open Tasks.";
const LINK_LOST = "The connection to the app was lost; trying to reach it again…";

/** What follows the app's own words on why it closed the connection. */
const AFTER_CLOSE = {
  [CLOSED_IDLE]: "Click or press any key to connect again.",
  [CLOSED_FULL]: "This page keeps trying to get in.",
};

class Page {
  player = new Player();
  composer = new Composer(this);
  talk = new TalkButton(this);
  conversation = new Conversation(this, this.player);
  call = new Call(this, this.player);
  usedVoice = new UsedVoice(this);
  models = new ModelChooser();
  lab = new VoiceLab(this, this.player);
  tasks = new TaskPanel(this, this.player);
  sessionId = "";
  socket = null;
  #notices = new Notices();
  #underruns = 0;
  #recordedUntil = null;
  #clearing = false;
  #engine = null;
  #engineState = "";
  #tellEngine = null;

  constructor() {
    useSoundFor("playback");
    unlockOnGesture(this.player);
    this.#watchPlayer();
    if (!window.isSecureContext) this.tell("sound", INSECURE);
    claimSessionId().then((id) => this.#open(id));
  }

  /** Shows the transcript in this element. */
  mountTranscript(element) {
    this.conversation.transcript = new Transcript(element, {
      replay: (turnId) => this.conversation.replay(turnId),
      wavUrl: (turnId) => this.wavUrl(turnId),
    });
    this.#connect();
  }

  /** Shows the status strip in this element; calls `tellEngine` at each new state of the engine. */
  mountStatus(element, tellEngine) {
    this.#tellEngine = tellEngine;
    const status = new StatusStrip(element, () => this.send({ type: "omni.engine.rebuild" }));
    this.conversation.status = status;
    this.#notices.mount((text) => status.tell(text));
    this.#connect();
  }

  /** Shows the call in this element; calls `settle` when the app needs the choices of now. */
  mountCall(element, settle) {
    this.call.mount(element, settle);
    this.#connect();
  }

  /** Shows the voice lab in this element. */
  mountLab(element) {
    this.lab.mount(element);
    if (this.#engine) this.lab.follow(this.#engine);
  }

  /** Shows the tasks in this element. */
  mountTasks(element) {
    this.tasks.mount(element);
    if (this.#engine) this.tasks.follow(this.#engine);
  }

  /** Silences the reply at once and stops the work on it. */
  stop() {
    this.lab.stop();
    this.tasks.stop();
    this.conversation.stop();
    this.#forgetRecording();
    this.ask({ type: "response.cancel" }, () => this.conversation.turns.underWay);
  }

  /** What the Escape key does: throw a recording away, else stop the reply. */
  escape() {
    if (this.talk.active) this.talk.discard();
    else this.stop();
  }

  /** Begins a new conversation; as soon as the app is reached again, where it is not now. */
  clear() {
    this.conversation.stop();
    this.#clearing = true;
    this.ask({ type: "omni.conversation.clear" }, () => this.#clearing);
  }

  /** Sends a message to the app; false when it cannot be reached now. */
  send(message) {
    return this.socket?.send(message) ?? false;
  }

  /** @returns {number} Bytes that wait to be sent to the app. */
  get unsentBytes() {
    return this.socket?.unsentBytes ?? 0;
  }

  /** Sends what the app has to answer; an answer that stays away shows that the link is dead. */
  ask(message, stillDue) {
    this.send(message);
    this.socket?.expect(stillDue);
  }

  /** A question is on its way. */
  sent() {
    const { turns } = this.conversation;
    turns.sent();
    this.#clearing = false;
    this.socket?.expect(() => turns.awaited && !document.querySelector(".field-error"));
  }

  /**
   * Makes a turn of what the app has recorded, once the app says that all of it has arrived.
   * @param {number} endedAt When the recording ended, in performance.now() ms.
   */
  sendRecording(endedAt) {
    this.#recordedUntil = endedAt;
    this.ask({ type: "input_audio_buffer.commit" }, () => this.#recordedUntil !== null);
  }

  /** @returns {boolean} Whether a recording that is complete has yet to become a turn. */
  get sendsRecording() {
    return this.#recordedUntil !== null;
  }

  /** Shows a notice on a topic, in place of the last one on it; no words take it away. */
  tell(topic, text) {
    this.#notices.tell(topic, text);
  }

  /** @returns {string} Where the sound of a reply can be fetched. */
  wavUrl(turnId) {
    return new URL(`replies/${turnId}.wav`, document.baseURI).href;
  }

  #watchPlayer() {
    const on = (type, action) => this.player.addEventListener(type, ({ detail }) => action(detail));
    on("started", (detail) => this.conversation.heard(detail));
    on("underrun", () => this.conversation.status?.underran(++this.#underruns));
    on("progress", () => this.tell("blocked", ""));
    on("blocked", () => this.tell("blocked", "Click or press any key to hear the reply."));
    on("unsupported", ({ reason }) =>
      this.tell("sound", window.isSecureContext ? reason : INSECURE),
    );
  }

  #open(id) {
    this.sessionId = id;
    this.#connect();
  }

  // The four come in any order: the id, and the places of the transcript, the strip and the call.
  #connect() {
    const { transcript, status } = this.conversation;
    if (this.socket || !this.sessionId || !transcript || !status || !this.call.mounted) return;
    this.socket = new RealtimeSocket(this.sessionId);
    this.socket.addEventListener("message", ({ detail }) => this.#receive(detail));
    this.socket.addEventListener("lost", ({ detail }) => this.#lose(detail));
  }

  #lose(code) {
    this.tell("link", AFTER_CLOSE[code] ?? LINK_LOST);
    this.#engineState = ""; // the app may come back with another engine
    if (code === CLOSED_IDLE) this.call.rest();
    else this.call.lose();
  }

  #follow(state) {
    if (state !== this.#engineState) this.#tellEngine();
    this.#engineState = state;
  }

  #receive(message) {
    switch (message.type) {
      case "session.created":
        this.#restore(message.turns);
        break;
      case "omni.conversation.cleared":
        this.#clearing = false;
        this.conversation.clear();
        break;
      case "omni.turn.created":
        this.#notices.clear("error");
        this.conversation.begin(message.turn);
        break;
      case "omni.engine":
        this.#engine = message;
        this.conversation.status.showEngine(message);
        this.#showAnswers(message);
        this.#follow(message.state);
        break;
      case "input_audio_buffer.committed":
        this.#sendCommitted();
        break;
      case "omni.recording.full":
        this.tell("microphone", message.text);
        if (this.talk.recording) this.talk.finish();
        break;
      case "error":
        if (!this.call.refuse(message.error.message)) this.tell("error", message.error.message);
        break;
      default:
        this.conversation.follow(message);
    }
    this.call.follow(message);
    this.usedVoice.follow(message);
    this.models.follow(message);
    this.lab.follow(message);
    this.tasks.follow(message);
  }

  #showAnswers({ state, answers, recites }) {
    if (state !== "ready") return;
    document.documentElement.dataset.answers = answers ? "yes" : "no";
    const instead = recites ? ONLY_SPEAKS : ONLY_TASKS;
    this.tell("answers", answers ? "" : instead);
    if (answers) return;
    this.call.end(); // the model before this one may have answered
    if (this.talk.active) this.talk.discard();
  }

  #restore(turns) {
    this.#notices.clear("link", "error");
    this.conversation.restore(turns);
    this.call.resume(this.conversation.turns.turnUnderWay);
    if (this.#clearing) this.clear();
    if (this.#recordedUntil !== null) this.sendRecording(this.#recordedUntil);
  }

  #sendCommitted() {
    if (this.#recordedUntil === null) return;
    this.composer.sendRecording(this.#recordedUntil);
    this.#recordedUntil = null;
  }

  #forgetRecording() {
    if (this.#recordedUntil !== null) this.send({ type: "input_audio_buffer.clear" });
    this.#recordedUntil = null;
  }
}

const page = new Page();
window.omni = page;

/** @param {HTMLElement} element */
export const mountTranscript = (element) => page.mountTranscript(element);

/** @param {HTMLElement} element
 *  @param {() => void} settle */
export const mountCall = (element, settle) => page.mountCall(element, settle);

/** @param {HTMLElement} element
 *  @param {() => void} tellEngine */
export const mountStatus = (element, tellEngine) => page.mountStatus(element, tellEngine);

/** @param {HTMLElement} element */
export const mountLab = (element) => page.mountLab(element);

/** @param {HTMLElement} element */
export const mountTasks = (element) => page.mountTasks(element);

/** @param {HTMLElement} element */
export const mountModel = (element) => page.models.mount(element);

/** @param {HTMLElement} element */
export const mountUsedVoice = (element) => page.usedVoice.mount(element);
