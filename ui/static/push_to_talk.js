/** Push-to-talk in a call: the microphone is heard while the button is held, and then answered. */

const TOO_SHORT = "That was too short. Hold the button for as long as you speak.";
/** Why nothing comes of what was being said when the connection was lost. */
export const TORN = "That was lost with the connection. Please say it again.";

const SHORTEST_MS = 200;

/** The last sound is still on its way from the microphone when the button is let go. */
const REST_MS = 60;

export class PushToTalk {
  #send;
  #microphone;
  #dialogue;
  #heldAt = 0;
  #rest = null;

  /** True while it is how the person talks in a call. */
  on = false;

  /** True while the button is held. */
  held = false;

  /** @param {(message: object) => boolean} send
   *  @param {import("./live_microphone.js").LiveMicrophone} microphone
   *  @param {import("./call_dialogue.js").CallDialogue} dialogue */
  constructor(send, microphone, dialogue) {
    this.#send = send;
    this.#microphone = microphone;
    this.#dialogue = dialogue;
  }

  /** Makes it how the person talks, or leaves it. */
  choose(on) {
    this.on = on;
    this.abandon();
  }

  /** The button is held: whatever sounds falls silent, and the microphone is heard. */
  press() {
    clearTimeout(this.#rest);
    this.held = true;
    this.#heldAt = performance.now();
    this.#send({ type: "response.cancel" });
    this.#send({ type: "input_audio_buffer.clear" });
    this.#microphone.passing = true;
    this.#dialogue.begin();
  }

  /** The button was let go: what was said meanwhile becomes a turn. */
  release() {
    if (!this.held) return;
    this.held = false;
    const endedAt = performance.now();
    this.#rest = setTimeout(() => this.#finish(endedAt), REST_MS);
  }

  /** What is being said will not be answered: the call, its connection or its manner has ended. */
  abandon() {
    clearTimeout(this.#rest);
    this.held = false;
    this.#microphone.passing = !this.on;
  }

  #finish(endedAt) {
    this.#microphone.passing = false;
    this.#dialogue.end(endedAt);
    if (endedAt - this.#heldAt < SHORTEST_MS) this.#forget();
    else if (!this.#ask()) this.#dialogue.drop(TORN);
  }

  #ask() {
    return this.#send({ type: "input_audio_buffer.commit" }) && this.#send({ type: "response.create" });
  }

  #forget() {
    this.#send({ type: "input_audio_buffer.clear" });
    this.#dialogue.drop(TOO_SHORT);
  }
}
