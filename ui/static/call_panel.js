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
   *  `screen` and `pushToTalk`. */
  constructor(host, actions) {
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
    this.holdButton = panel.appendChild(control("call-hold", "microphone", () => {}));
    this.notice = panel.appendChild(make("p", "call-notice"));
    this.notice.id = "call-notice";
    this.notice.setAttribute("role", "alert");
    this.tell("");
    this.showLevel(0);
    this.show({ state: "off", muted: false, pushToTalk: false, held: false, source: "" });
  }

  /** Shows the call as it is now.
   *  @param {{state: string, muted: boolean, pushToTalk: boolean, held: boolean, source: string,
   *  hasOtherCamera: boolean}} call */
  show({ state, muted, pushToTalk, held, source, hasOtherCamera }) {
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
    this.screen.hidden = !navigator.mediaDevices?.getDisplayMedia;
    this.switchCamera.hidden = !hasOtherCamera;
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
    this.pushToTalk = control("call-push", "hold", actions.pushToTalk);
    label(this.mute, "Mute");
    label(this.camera, "Camera");
    label(this.switchCamera, "Switch camera");
    label(this.screen, "Share screen");
    label(this.pushToTalk, "Push to talk");
    const { mute, camera, switchCamera, screen, pushToTalk } = this;
    this.controls.append(mute, camera, switchCamera, screen, pushToTalk);
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
