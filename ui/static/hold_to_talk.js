/** Push-to-talk: a button that is held, or the space bar wherever nothing is typed. */

/** Where the space bar has a meaning of its own. */
const TYPES = "input, textarea, select, [contenteditable=true], [role=slider], [role=tab], summary";

export class HoldToTalk {
  #button;
  #press;
  #release;
  #byKey = false;
  #held = false;

  /** @param {HTMLElement} button Counts while it is shown; so does the space bar.
   *  @param {() => void} press
   *  @param {() => void} release */
  constructor(button, press, release) {
    this.#button = button;
    this.#press = press;
    this.#release = release;
    button.addEventListener("pointerdown", (event) => this.#onPointer(event));
    for (const type of ["pointerup", "pointercancel", "lostpointercapture"])
      button.addEventListener(type, () => this.#letGo());
    button.addEventListener("contextmenu", (event) => event.preventDefault());
    document.addEventListener("keydown", (event) => this.#onKey(event), { capture: true });
    document.addEventListener("keyup", (event) => this.#onKeyUp(event), { capture: true });
    window.addEventListener("blur", () => this.#letGo());
  }

  #hold() {
    if (this.#held) return;
    this.#held = true;
    this.#press();
  }

  #letGo() {
    if (!this.#held) return;
    this.#held = this.#byKey = false;
    this.#release();
  }

  #onPointer(event) {
    if (event.button !== 0) return;
    // The finger may slide off the button; it is held until it is lifted.
    this.#button.setPointerCapture(event.pointerId);
    this.#hold();
  }

  #onKey(event) {
    if (event.key !== " " || this.#button.hidden || event.target.matches?.(TYPES)) return;
    event.preventDefault();
    event.stopImmediatePropagation(); // or the button that has the focus is pressed too
    this.#byKey = true;
    if (!event.repeat) this.#hold();
  }

  #onKeyUp(event) {
    if (event.key !== " " || !this.#byKey) return;
    event.preventDefault();
    this.#letGo();
  }
}
