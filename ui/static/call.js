/** A call: the microphone stays open, and the app hears by itself when the person has finished. */

import { CallDialogue } from "./call_dialogue.js";
import { CallPanel } from "./call_panel.js";
import { CallTimeline } from "./call_timeline.js";
import { Eyes } from "./eyes.js";
import { HoldToTalk } from "./hold_to_talk.js";
import { LiveMicrophone } from "./live_microphone.js";
import { PushToTalk, TORN } from "./push_to_talk.js";
import { Uplink } from "./uplink.js";
import { WakeLock } from "./wake_lock.js";

const RECORDING = "Talk is recording. Send that first, or press Escape to throw it away.";
const MICROPHONE_GONE = "The microphone was disconnected, so the call has ended.";
const LOST = "The connection was lost. What you say now is not heard.";
const SLOW = "The connection is too slow for the call: some of what you say is not heard.";
const RESTED = "Nothing was said for a long while, so the call has ended.";

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
  #torn = false; // the connection was lost while the person spoke
  #slow = false;
  #watching = false;
  #engineSees = false;
  #timeline = new CallTimeline();
  #uplink;
  #wakeLock = new WakeLock();
  #microphone;
  #dialogue;
  #pushToTalk;

  /** @param {object} page What the call needs of the page.
   *  @param {import("./player.js").Player} player */
  constructor(page, player) {
    this.#page = page;
    const send = (message) => this.on && page.send(message);
    this.#uplink = new Uplink(
      () => page.unsentBytes,
      (slow) => this.#onUplink(slow),
    );
    this.#microphone = new LiveMicrophone({
      send,
      admits: (sampleRate) => this.#uplink.admits(sampleRate),
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
    const actions = {
      call: () => (this.on ? this.end() : this.#begin()),
      mute: () => this.#change(() => this.#microphone.mute(!this.#microphone.muted)),
      camera: () => this.#eyes.toggle("camera"),
      switchCamera: () => this.#eyes.switchCamera(),
      screen: () => this.#eyes.toggle("screen"),
      watch: () => this.#change(() => this.#watch(!this.#watching)),
      pushToTalk: () => this.#change(() => this.#talkBy(!this.#pushToTalk.on)),
    };
    this.#panel = new CallPanel(element, actions, this.#timeline.element);
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
    const session = { turn_detection: null, omni: { watch: false } };
    this.#page.send({ type: "session.update", session });
    this.#page.stop();
    this.#phase = "off";
    this.#lost = this.#torn = false;
    this.#forgetUplink();
    this.#pushToTalk.abandon();
    this.#microphone.close();
    this.#eyes.close();
    this.#watching = false;
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
    this.#torn ||= this.#dialogue.state === "hearing";
    this.#forgetUplink();
    this.#pushToTalk.abandon();
    this.#dialogue.reset();
    this.#panel.tell(LOST);
    this.#show();
  }

  /** The app closed the connection, since nothing happened on it. */
  rest() {
    if (this.on) this.#fail(RESTED);
  }

  /** The connection is there again, with this turn under way, if any. */
  resume(turnId) {
    if (!this.on) return;
    this.#lost = false;
    this.#panel.tell("");
    if (this.#phase === "opening") return;
    this.#dialogue.reset(turnId);
    if (this.#torn) this.#dialogue.drop(TORN);
    this.#torn = false;
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
    if (message.type === "omni.engine") this.#engineSees = message.sees_pictures;
    if (!this.on) return;
    this.#timeline.follow(message);
    if (message.type === "session.updated" && this.#phase === "starting") this.#phase = "on";
    this.#dialogue.follow(message);
    this.#show();
  }

  async #begin() {
    if (this.#page.talk.busy) return this.#panel.tell(RECORDING);
    this.#panel.tell("");
    this.#phase = "opening";
    this.#timeline.clear();
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
    const session = { turn_detection: detection, omni: { watch: this.#watching && this.#engineSees } };
    const message = { type: "session.update", session };
    this.#page.ask(message, () => this.#phase === "starting");
  }

  #talkBy(pushing) {
    this.#pushToTalk.choose(pushing);
    if (pushing) this.#microphone.mute(false); // there is no need for it
    if (pushing) this.#watching = false; // nothing is sent between two presses
    this.#dialogue.reset(this.#page.conversation.turns.turnUnderWay);
    if (this.#phase !== "opening") this.#agree();
  }

  #watch(on) {
    this.#watching = on;
    if (this.#phase === "on")
      this.#page.send({ type: "session.update", session: { omni: { watch: on } } });
  }

  #fail(words) {
    this.end();
    this.#panel.tell(words);
  }

  #onEyes(problem) {
    if (!this.#eyes.source && this.#watching) this.#watch(false);
    this.#panel.tell(problem || this.#linkProblem);
    this.#show();
  }

  #onUplink(slow) {
    this.#slow = slow;
    if (this.on) this.#panel.tell(this.#linkProblem);
  }

  #forgetUplink() {
    this.#uplink.reset();
    this.#slow = false;
  }

  get #linkProblem() {
    if (this.#lost) return LOST;
    return this.#slow ? SLOW : "";
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
      canWatch: this.#engineSees,
      watching: this.#watching,
    });
  }
}
