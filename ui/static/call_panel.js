/** What is shown of a call: who has the word, the level, the captions, and the buttons. */

import { button, make, say } from "./dom.js";
import { icon } from "./icons.js";

/** Per state: its words, and its drawing. */
const STATES = {
  starting: ["Starting…", "call"],
  lost: ["Reconnecting…", "link"],
  listening: ["Listening", "microphone"],
  hearing: ["You are speaking", "person"],
  thinking: ["Thinking", "dots"],
  speaking: ["Speaking", "speaker"],
  silent: ["Stayed silent", "closed"],
  muted: ["Muted", "muted"],
  waiting: ["Hold to talk", "hold"],
};

const INVITATION = "Talk hands-free, and interrupt whenever you like.";

export class CallPanel {
  #shown = "";

  /** @param {HTMLElement} host Where to show it.
   *  @param {object} actions What the buttons do: `call`, `mute`, `camera`, `switchCamera`,
   *  `screen`, `watch` and `pushToTalk`.
   *  @param {HTMLElement} timeline What was decided so far. */
  constructor(host, actions, timeline) {
    const panel = host.appendChild(make("section", "call"));
    this.panel = panel;
    panel.setAttribute("aria-label", "Call");
    const top = panel.appendChild(make("div", "call-top"));
    this.callButton = top.appendChild(control("call-button", "call", actions.call));
    this.invitation = top.appendChild(make("p", "aside", INVITATION));
    top.append(this.#makeState());
    this.preview = top.appendChild(make("video", "call-preview"));
    Object.assign(this.preview, { id: "call-preview", muted: true, playsInline: true });
    this.preview.setAttribute("aria-label", "What the assistant sees");
    panel.append(this.#makeControls(actions));
    panel.append(timeline);
    this.holdButton = panel.appendChild(control("call-hold", "microphone", () => {}));
    this.notice = panel.appendChild(make("p", "call-notice"));
    this.notice.id = "call-notice";
    this.notice.setAttribute("role", "alert");
    this.tell("");
    this.showLevel(0);
    this.show({ state: "off", source: "" });
  }

  /** Shows the call as it is now.
   *  @param {object} call
   *  @param {string} call.state
   *  @param {string} call.source What is looked at; see Eyes.
   *  @param {boolean} [call.muted]
   *  @param {boolean} [call.pushToTalk]
   *  @param {boolean} [call.held] Whether push-to-talk is held.
   *  @param {boolean} [call.hasOtherCamera]
   *  @param {boolean} [call.canWatch] Whether the engine sees pictures.
   *  @param {boolean} [call.watching] */
  show(call) {
    const { state, source, muted = false, pushToTalk = false, held = false } = call;
    const on = state !== "off";
    this.panel.dataset.state = state;
    this.#showState(state);
    label(this.callButton, on ? "End call" : "Call");
    this.invitation.hidden = on;
    this.status.hidden = this.controls.hidden = !on;
    press(this.mute, muted);
    press(this.camera, source === "camera");
    press(this.screen, source === "screen");
    press(this.pushToTalk, pushToTalk);
    press(this.watch, call.watching ?? false);
    this.watch.hidden = !(source && call.canWatch && !pushToTalk);
    this.screen.hidden = !navigator.mediaDevices?.getDisplayMedia;
    this.switchCamera.hidden = !call.hasOtherCamera;
    this.mute.hidden = pushToTalk;
    this.preview.hidden = !source;
    this.holdButton.hidden = !(on && pushToTalk);
    label(this.holdButton, held ? "Release to send" : "Hold to talk, or hold the space bar");
    this.holdButton.toggleAttribute("data-held", held);
  }

  /** Shows how loud it is at the microphone, 0 to 1. */
  showLevel(level) {
    this.meter.style.setProperty("--level", Math.min(1, level).toFixed(2));
  }

  /** Shows the words that are being heard, or says why they came to nothing. */
  caption(words, isAside = false) {
    this.captions.textContent = words;
    this.captions.classList.toggle("aside", isAside);
  }

  /** Says what went wrong, or with no words that all is well. */
  tell(words) {
    say(this.notice, words);
  }

  #makeState() {
    this.status = make("div", "call-status");
    this.badge = this.status.appendChild(make("span", "call-badge"));
    const words = this.status.appendChild(make("div", "call-words"));
    this.word = words.appendChild(make("strong"));
    this.word.id = "call-state";
    this.word.setAttribute("role", "status");
    this.meter = words.appendChild(make("div", "call-meter"));
    this.meter.append(make("span"));
    this.captions = words.appendChild(make("p", "call-captions"));
    this.captions.id = "call-captions";
    return this.status;
  }

  #makeControls(actions) {
    this.controls = make("div", "call-controls");
    this.mute = control("call-mute", "muted", actions.mute);
    this.camera = control("call-camera", "camera", actions.camera);
    this.switchCamera = control("call-switch", "turn", actions.switchCamera);
    this.screen = control("call-screen", "screen", actions.screen);
    this.watch = control("call-watch", "eye", actions.watch);
    this.watch.title = "Let the assistant speak up by itself when what it sees changes";
    this.pushToTalk = control("call-push", "hold", actions.pushToTalk);
    label(this.mute, "Mute");
    label(this.camera, "Camera");
    label(this.switchCamera, "Switch camera");
    label(this.screen, "Share screen");
    label(this.watch, "Watch");
    label(this.pushToTalk, "Push to talk");
    const { mute, camera, switchCamera, screen, watch, pushToTalk } = this;
    this.controls.append(mute, camera, switchCamera, screen, watch, pushToTalk);
    return this.controls;
  }

  #showState(state) {
    if (state === this.#shown) return;
    this.#shown = state;
    const [words, drawing] = STATES[state] ?? ["", ""];
    this.word.textContent = words;
    this.badge.replaceChildren(...(drawing ? [icon(drawing)] : []));
  }
}

function control(id, drawing, onClick) {
  const element = button("", "", onClick);
  element.id = id;
  element.append(icon(drawing), make("span"));
  return element;
}

function label(element, words) {
  if (element.lastChild.textContent !== words) element.lastChild.textContent = words;
  element.setAttribute("aria-label", words);
}

/** The button keeps its name: a screen reader says beside it whether it is pressed. */
function press(element, pressed) {
  element.setAttribute("aria-pressed", String(pressed));
}
