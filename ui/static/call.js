/** A call: the microphone stays open, and the app hears by itself when the person has finished. */

import { CallDialogue } from "./call_dialogue.js";
import { CallPanel } from "./call_panel.js";
import { Eyes } from "./eyes.js";
import { HoldToTalk } from "./hold_to_talk.js";
import { LiveMicrophone } from "./live_microphone.js";
import { PushToTalk } from "./push_to_talk.js";
import { WakeLock } from "./wake_lock.js";

const RECORDING = "Talk is recording. Send that first, or press Escape to throw it away.";
const MICROPHONE_GONE = "The microphone was disconnected, so the call has ended.";
const LOST = "The connection was lost. What you say now is not heard.";

/** Typing into a setting changes it with every key. */
const SETTLE_MS = 400;

export class Call {
  #page;
  #panel = null;
  #eyes = null;
  #settle = null;
  #settling = null;
  #phase = "off"; // off, opening (the microphone), starting (at the app), on
  #lost = false;
  #wakeLock = new WakeLock();
  #microphone;
  #dialogue;
  #pushToTalk;

  /** @param {object} page What the call needs of the page.
   *  @param {import("./player.js").Player} player */
  constructor(page, player) {
    this.#page = page;
    const send = (message) => this.on && page.send(message);
    this.#microphone = new LiveMicrophone({
      send,
      pictures: () => this.#eyes.take(),
      showLevel: (level) => this.#panel.showLevel(level),
      onLost: () => this.#fail(MICROPHONE_GONE),
    });
    this.#dialogue = new CallDialogue(page, player, this.#microphone, {
      send,
      caption: (...words) => this.#panel.caption(...words),
      changed: () => this.#show(),
    });
    this.#pushToTalk = new PushToTalk(send, this.#microphone, this.#dialogue);
    window.addEventListener("pagehide", () => this.end());
  }

  /** @returns {boolean} True from the press that begins the call to the one that ends it. */
  get on() {
    return this.#phase !== "off";
  }

  /** @returns {boolean} Whether it has its place in the page. */
  get mounted() {
    return this.#panel !== null;
  }

  /** Shows the panel in this element; calls `settle` when the app needs the choices of now. */
  mount(element, settle) {
    this.#settle = settle;
    this.#panel = new CallPanel(element, {
      call: () => (this.on ? this.end() : this.#begin()),
      mute: () => this.#change(() => this.#microphone.mute(!this.#microphone.muted)),
      camera: () => this.#eyes.toggle("camera"),
      switchCamera: () => this.#eyes.switchCamera(),
      screen: () => this.#eyes.toggle("screen"),
      pushToTalk: () => this.#change(() => this.#talkBy(!this.#pushToTalk.on)),
    });
    this.#eyes = new Eyes(this.#panel.preview, (problem) => this.#onEyes(problem));
    new HoldToTalk(
      this.#panel.holdButton,
      () => this.#change(() => this.#pushToTalk.press()),
      () => this.#change(() => this.#pushToTalk.release()),
    );
  }

  /** Ends the call; the microphone and the camera are given back. */
  end() {
    if (!this.on) return;
    this.#page.send({ type: "session.update", session: { turn_detection: null } });
    this.#page.stop();
    this.#phase = "off";
    this.#lost = false;
    this.#pushToTalk.abandon();
    this.#microphone.close();
    this.#eyes.close();
    this.#wakeLock.release();
    this.#page.talk.disable(false);
    this.#dialogue.reset();
    this.#panel.tell("");
    this.#show();
  }

  /** Something was chosen under Settings. */
  choicesChanged() {
    if (!this.on) return;
    clearTimeout(this.#settling);
    this.#settling = setTimeout(this.#settle, SETTLE_MS);
  }

  /** The connection was lost. */
  lose() {
    if (!this.on) return;
    this.#lost = true;
    this.#pushToTalk.abandon();
    this.#dialogue.reset();
    this.#panel.tell(LOST);
    this.#show();
  }

  /** The connection is there again, with this turn under way, if any. */
  resume(turnId) {
    if (!this.on) return;
    this.#lost = false;
    this.#panel.tell("");
    if (this.#phase === "opening") return;
    this.#dialogue.reset(turnId);
    this.#settle(); // the app may have started anew
    this.#agree();
    this.#show();
  }

  /** @returns {boolean} Whether it was the call that the app refused with these words. */
  refuse(words) {
    const refused = this.#phase === "starting";
    if (refused) this.#fail(words);
    return refused;
  }

  /** Takes in a message of the app, after the conversation has. */
  follow(message) {
    if (!this.on) return;
    if (message.type === "session.updated" && this.#phase === "starting") this.#phase = "on";
    this.#dialogue.follow(message);
    this.#show();
  }

  async #begin() {
    if (this.#page.talk.busy) return this.#panel.tell(RECORDING);
    this.#panel.tell("");
    this.#phase = "opening";
    this.#page.talk.disable(true);
    this.#settle();
    this.#show();
    try {
      if (!(await this.#microphone.open())) return;
    } catch (error) {
      if (this.on) this.#fail(error.message);
      return;
    }
    this.#phase = "starting";
    this.#wakeLock.hold();
    this.#dialogue.reset(this.#page.conversation.turns.turnUnderWay);
    this.#agree();
  }

  /** Tells the app how the person talks; a new connection knows nothing of the call. */
  #agree() {
    const detection = this.#pushToTalk.on ? null : { type: "server_vad" };
    this.#microphone.restart();
    const message = { type: "session.update", session: { turn_detection: detection } };
    this.#page.ask(message, () => this.#phase === "starting");
  }

  #talkBy(pushing) {
    this.#pushToTalk.choose(pushing);
    if (pushing) this.#microphone.mute(false); // there is no need for it
    this.#dialogue.reset(this.#page.conversation.turns.turnUnderWay);
    if (this.#phase !== "opening") this.#agree();
  }

  #fail(words) {
    this.end();
    this.#panel.tell(words);
  }

  #onEyes(problem) {
    this.#panel.tell(problem || (this.#lost ? LOST : ""));
    this.#show();
  }

  #change(action) {
    action();
    this.#show();
  }

  get #state() {
    if (!this.on) return "off";
    if (this.#lost) return "lost";
    if (this.#phase !== "on") return "starting";
    const { state } = this.#dialogue;
    const idle = state === "listening" || state === "silent";
    if (this.#pushToTalk.on && idle) return "waiting";
    return this.#microphone.muted && state === "listening" ? "muted" : state;
  }

  #show() {
    this.#panel?.show({
      state: this.#state,
      muted: this.#microphone.muted,
      pushToTalk: this.#pushToTalk.on,
      held: this.#pushToTalk.held,
      source: this.#eyes.source,
      hasOtherCamera: this.#eyes.hasOtherCamera,
    });
  }
}
