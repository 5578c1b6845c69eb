/**
 * What the page knows of the turn under way: which it is, whether it was stopped here, and whether
 * one that was sent has yet to appear. A stop counts before the app has heard of it.
 */
export class TurnWatch {
  #stopped = new Set();
  #stopsNext = false;

  /** Id of the newest turn, or none. */
  current = null;
  /** True while the current turn has not ended, as far as the page was told. */
  underWay = false;
  /** True once some of the current turn's sound has come. */
  sounded = false;
  /** True from Send until the turn appears. */
  awaited = false;

  /** @returns {string | null} Id of the current turn while it has not ended. */
  get turnUnderWay() {
    return this.underWay ? this.current : null;
  }

  /** A question was sent. */
  sent() {
    this.awaited = true;
    this.#stopsNext = false;
  }

  /** A turn is the newest one now. */
  begin(turnId) {
    if (this.#stopsNext) this.#stopped.add(turnId);
    this.current = turnId;
    this.underWay = true;
    this.sounded = false;
    this.awaited = this.#stopsNext = false;
  }

  /** Sound of a turn has come. */
  sound(turnId) {
    if (turnId === this.current) this.sounded = true;
  }

  /** The turn has ended. */
  done(turnId) {
    if (turnId === this.current) this.underWay = false;
  }

  /** Stops the current turn, or the one that is awaited. */
  stop() {
    this.#stopsNext = this.awaited;
    if (this.current) this.#stopped.add(this.current);
  }

  /** Stops the current turn, and none that is awaited. */
  interrupt() {
    if (this.current) this.#stopped.add(this.current);
  }

  /** @returns {boolean} Whether the turn was stopped on this page. */
  wasStopped(turnId) {
    return this.#stopped.has(turnId);
  }

  /** No turns are left. */
  clear() {
    this.current = null;
    this.underWay = false;
  }
}
