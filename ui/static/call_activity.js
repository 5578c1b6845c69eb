/** Who has the word in a call, from what the app says. */

/** How long it is shown that the assistant chose to say nothing. */
const SILENCE_SHOWN_MS = 4000;

export class CallActivity {
  #player;
  #changed;
  #timer = null;
  #personSpeaks = false;
  #turnDue = false;
  #turnId = null;
  #stayedSilent = false;

  /** @param {import("./player.js").Player} player
   *  @param {() => void} changed Called when time alone has changed the state. */
  constructor(player, changed) {
    this.#player = player;
    this.#changed = changed;
    for (const type of ["started", "ended"]) player.addEventListener(type, changed);
  }

  /** @returns {"hearing" | "speaking" | "thinking" | "silent" | "listening"} */
  get state() {
    if (this.#personSpeaks) return "hearing";
    if (this.#player.playing.length > 0) return "speaking";
    if (this.#turnDue || this.#turnId) return "thinking";
    return this.#stayedSilent ? "silent" : "listening";
  }

  /** The person began to speak. */
  personSpeaks() {
    this.#personSpeaks = true;
    this.#turnId = null;
    this.#staySilent(false);
  }

  /** The person has finished; a turn may follow. */
  personEnds() {
    this.#turnDue = this.#personSpeaks;
    this.#personSpeaks = false;
  }

  /** What the person said came to nothing. */
  utteranceDropped() {
    this.#turnDue = false;
  }

  /** Takes in a message of the app. */
  follow({ type, turn, response_id: turnId }) {
    if (type === "omni.turn.created" && !turn.unasked) this.#begin(turn.id);
    if (type === "omni.conversation.cleared") this.#turnId = null;
    if (turnId !== this.#turnId) return;
    if (type === "response.listen") this.#staySilent(true);
    if (type === "response.done") this.#turnId = null;
  }

  /** Forgets everything, but for a turn that is under way. */
  reset(turnId = null) {
    this.#personSpeaks = this.#turnDue = false;
    this.#turnId = turnId;
    this.#staySilent(false);
  }

  #begin(turnId) {
    this.#turnDue = false;
    this.#turnId = turnId;
    this.#staySilent(false);
  }

  #staySilent(silent) {
    this.#stayedSilent = silent;
    clearTimeout(this.#timer);
    if (!silent) return;
    this.#timer = setTimeout(() => {
      this.#stayedSilent = false;
      this.#changed();
    }, SILENCE_SHOWN_MS);
  }
}
