/** The composer's side in the browser: what Send carries, when it counts, and the keys. */

/** Presses closer together than this, with nothing typed in between, are one press. */
const REPEAT_MS = 600;

const OPEN = "[aria-expanded=true]";

/** Message, sound, video and picture. */
const BOXES = 4;

/** Gradio's sign for a value that stays as it is. */
const KEEP = { __type__: "update" };

const UNFOLDING_MS = 300;

export class Composer {
  #page;
  #pressedAt = -Infinity;
  #endedAt = null;
  #sentAt = 0;
  #sent = [];
  #escapeTaken = false;

  constructor(page) {
    this.#page = page;
    document.addEventListener("keydown", (event) => this.#onKey(event), { capture: true });
    window.addEventListener("keydown", (event) => this.#onKeyLeft(event));
    document.addEventListener("input", () => (this.#pressedAt = -Infinity), { capture: true });
    document.addEventListener("click", (event) => this.#onClick(event), { capture: true });
  }

  /**
   * Puts this tab's session into the inputs of Send; notes what is sent, and the time.
   * @param {unknown[]} inputs The session's place, the boxes, and what else Send reads.
   */
  fill(inputs) {
    this.#sent = inputs.slice(1, 1 + BOXES).map((value) => JSON.stringify(value));
    this.#sentAt = this.#endedAt ?? performance.now();
    this.#endedAt = null;
    this.#page.sent();
    return this.identify(inputs);
  }

  /** Puts this tab's session into the inputs of an event.
   *  @param {unknown[]} inputs The session's place, and what else is read. */
  identify(inputs) {
    return [this.#page.sessionId, ...inputs.slice(1)];
  }

  /** A question was asked without Send; it ended at this time, in performance.now() ms. */
  askedAt(endedAt) {
    this.#sentAt = endedAt;
  }

  /**
   * Empties the boxes of what was sent, unless it was refused. What was put into them since then
   * is for the next question.
   * @param {unknown[]} values The boxes as they are now, then the error lines.
   * @returns {unknown[]} The boxes as they shall be.
   */
  clear(values) {
    const refused = values.slice(BOXES).some(Boolean);
    const emptied = ["", null, null, null];
    return this.#sent.map((sent, box) =>
      refused || sent !== JSON.stringify(values[box]) ? KEEP : emptied[box],
    );
  }

  /**
   * Brings the voice part of the settings into view when its choices were refused.
   * @param {string} words Why they were, or none.
   * @returns {object} What becomes of the settings' fold.
   */
  unfold(words) {
    if (!words) return KEEP;
    const show = () => document.querySelector("#voice")?.scrollIntoView({ block: "nearest" });
    setTimeout(show, UNFOLDING_MS);
    return { ...KEEP, open: true };
  }

  /**
   * Sends what the app has recorded.
   * @param {number} endedAt When the recording ended, in performance.now() ms.
   */
  sendRecording(endedAt) {
    this.#endedAt = endedAt;
    document.querySelector("#send").dispatchEvent(new CustomEvent("click", { bubbles: true }));
  }

  /** @returns {number} When the question ended, or was sent, in performance.now() ms. */
  get sentAt() {
    return this.#sentAt;
  }

  // Whether Escape is for a list or an input method is seen before they take it, and close.
  #onKey(event) {
    if (event.key === "Escape") this.#escapeTaken = event.isComposing || inOpenList(event.target);
    const sends = event.key === "Enter" && !event.shiftKey && event.target.closest?.("#message");
    if (sends && event.isComposing) event.stopImmediatePropagation();
    else if (sends && !this.#counts()) swallow(event);
  }

  #onKeyLeft(event) {
    if (event.key !== "Escape" || event.defaultPrevented || this.#escapeTaken) return;
    this.#page.escape();
  }

  #onClick(event) {
    const pressed = !(event instanceof CustomEvent) && event.target.closest?.("#send");
    if (pressed && !this.#counts()) swallow(event);
  }

  /** Whether a press of Send starts a turn; while recording it ends the recording instead. */
  #counts() {
    const repeated = performance.now() - this.#pressedAt < REPEAT_MS;
    const recorded = this.#page.sendsRecording && this.#pressedAt > -Infinity;
    this.#pressedAt = performance.now();
    if (repeated || recorded) return false;
    if (!this.#page.talk.recording) return true;
    this.#page.talk.finish();
    return false;
  }
}

function inOpenList(target) {
  return Boolean(target.closest?.("[role=listbox], [role=combobox], [role=menu]")?.matches(OPEN));
}

function swallow(event) {
  event.stopImmediatePropagation();
  event.preventDefault();
}
