/** The kept voice that the assistant of this tab speaks in: remembered over a reload, and shown under Settings. */

import { button, make, say } from "./dom.js";
import { NotSpoken } from "./speech_stream.js";
import { listVoices, onVoicesChanged, useVoice } from "./voice_api.js";

/** Where the tab remembers it, beside the conversation's id. */
const USED = "omni-live-used-voice";
const NO_STYLE = "It was made up from words, so a style does not change it.";

/** Tells with `change` that it is another one, or none. */
export class UsedVoice extends EventTarget {
  #page;
  #voice = recalled();
  #state = "";
  #modes = [];

  constructor(page) {
    super();
    this.#page = page;
    this.element = make("div", "used-voice");
    this.words = this.element.appendChild(make("p"));
    this.words.setAttribute("role", "status");
    const label = "Use the voice of the settings again";
    this.back = this.element.appendChild(button(label, label, () => this.#tried(() => this.use(null))));
    onVoicesChanged(() => this.#state === "ready" && this.#refresh());
    this.#show();
  }

  /** Shows it in this element. */
  mount(host) {
    host.append(this.element);
  }

  /** Whether it is this one. */
  is({ id }) {
    return id === this.#voice?.id;
  }

  /** Takes in a message of the app, which may have been restarted, and know nothing of it. */
  follow(message) {
    if (message.type === "session.created") this.#state = "";
    if (message.type !== "omni.engine" || message.state === this.#state) return;
    this.#state = message.state;
    if (message.state !== "ready") return;
    this.#modes = message.voice_modes;
    this.#refresh();
  }

  /** Has the assistant speak in a voice, or with null in that of the settings again. */
  async use(voice) {
    await useVoice((voice ?? this.#voice).id, this.#page.sessionId, voice !== null);
    this.#keep(voice);
    this.#page.call.choicesChanged();
  }

  /** Takes in all voices, as the app lists them: it may be renamed, replaced or gone. */
  take(voices) {
    const before = this.#voice;
    if (!before) return;
    const isSame = ({ own, name }) => own && name.toLowerCase() === before.name.toLowerCase();
    const voice = voices.find((one) => this.is(one)) ?? voices.find(isSame) ?? null;
    this.#keep(voice);
    this.#tried(() => useVoice((voice ?? before).id, this.#page.sessionId, voice?.usable ?? false));
  }

  async #refresh() {
    if (this.#voice) await this.#tried(async () => this.take(await listVoices()));
  }

  #keep(voice) {
    const changed = voice?.id !== this.#voice?.id;
    this.#voice = voice;
    remember(voice);
    this.#show();
    if (changed) this.dispatchEvent(new Event("change"));
  }

  #show() {
    const voice = this.#voice?.usable ? this.#voice : null;
    const facts = voice ? [`The assistant speaks as ${voice.name}, a kept voice.`] : [];
    if (voice?.kind === "design") facts.push(NO_STYLE);
    this.#say(facts.join(" "));
    this.back.hidden = !voice || this.#modes.every((mode) => mode === "clone");
  }

  #say(words) {
    say(this.words, words);
    this.element.hidden = !words;
  }

  async #tried(action) {
    try {
      await action();
    } catch (error) {
      if (!(error instanceof NotSpoken)) throw error;
      this.#say(error.message);
    }
  }
}

function recalled() {
  try {
    return JSON.parse(sessionStorage.getItem(USED));
  } catch {
    return null; // blocked storage: it is remembered as long as the page is open
  }
}

function remember(voice) {
  try {
    sessionStorage.setItem(USED, JSON.stringify(voice && { id: voice.id, name: voice.name }));
  } catch {
    // As above.
  }
}
