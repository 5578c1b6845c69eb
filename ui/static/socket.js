/**
 * The session's WebSocket: connects, is greeted, and comes back by itself after a loss.
 *
 * Events: "message" with the parsed message as `detail`, the first of a connection being
 * `session.created`; "lost" when the connection is, with the code of its close as `detail`.
 */

/** The app closed the connection since nothing happened on it: it is made anew when something does. */
export const CLOSED_IDLE = 4408;

/** The app lets nobody else in now. */
export const CLOSED_FULL = 4429;

/** Short at first: the app stops the work for a page that is away for half a minute. */
const RETRY_MS = [500, 1000, 1000, 1000, 1000, 2000, 2000, 4000, 8000, 15000];

/** Where in these a page begins that was not let in. */
const PATIENT = 7;

/** Retries that a page makes while nobody looks at it. */
const RETRIES_WHILE_HIDDEN = 6;

/** What the app speaks, and the session's id after its prefix: a browser can add no header. */
const PROTOCOL = "realtime";
const SESSION_PREFIX = "omni-session.";

const GREETING_DUE_MS = 8000;
const ANSWER_DUE_MS = 3000;

/** After this long out of sight a phone may have cut the connection without a word. */
const LONG_HIDDEN_MS = 20000;

export class RealtimeSocket extends EventTarget {
  #socket = null;
  #sessionId;
  #greeted = false;
  #retries = 0;
  #timer = null;
  #heardAt = 0;
  #awaySince = null;
  #resting = false;

  /** @param {string} sessionId Whose events to carry. */
  constructor(sessionId) {
    super();
    this.#sessionId = sessionId;
    window.addEventListener("offline", () => (this.#awaySince = performance.now()));
    window.addEventListener("online", () => this.#return(0));
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.#awaySince = performance.now();
      else this.#return(LONG_HIDDEN_MS);
    });
    for (const sign of ["pointerdown", "keydown"])
      window.addEventListener(sign, () => this.#resting && this.#renew(), { capture: true });
    this.#connect();
  }

  /** @returns {number} Bytes that were given to the connection and have not left yet. */
  get unsentBytes() {
    return this.#greeted ? this.#socket.bufferedAmount : 0;
  }

  /** @returns {boolean} Whether the message could be sent now. */
  send(message) {
    if (!this.#greeted || this.#socket.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  /**
   * Says that a message is due: when none has come after a while, the connection is taken for dead
   * and replaced.
   * @param {() => boolean} [stillDue] Whether it is still due then.
   */
  expect(stillDue = () => true) {
    const asked = performance.now();
    setTimeout(() => {
      if (this.#greeted && this.#heardAt < asked && stillDue()) this.#renew();
    }, ANSWER_DUE_MS);
  }

  #connect() {
    clearTimeout(this.#timer);
    this.#resting = false;
    const socket = new WebSocket(endpoint(), [PROTOCOL, SESSION_PREFIX + this.#sessionId]);
    this.#socket = socket;
    socket.onmessage = ({ data }) => this.#receive(JSON.parse(data));
    socket.onclose = ({ code }) => this.#lose(code);
    this.#timer = setTimeout(() => this.#lose(), GREETING_DUE_MS);
  }

  #receive(message) {
    this.#heardAt = performance.now();
    if (message.type === "session.created") {
      clearTimeout(this.#timer);
      this.#greeted = true;
      this.#retries = 0;
    }
    this.dispatchEvent(new CustomEvent("message", { detail: message }));
  }

  #lose(code) {
    this.#drop();
    this.#resting = code === CLOSED_IDLE;
    this.dispatchEvent(new CustomEvent("lost", { detail: code }));
    if (this.#resting) return;
    if (code === CLOSED_FULL) this.#retries = Math.max(this.#retries, PATIENT);
    if (document.hidden && this.#retries >= RETRIES_WHILE_HIDDEN) return;
    // Spread out, so that pages do not all come back to a restarted app in the same instant.
    const delay = RETRY_MS[Math.min(this.#retries, RETRY_MS.length - 1)] * (0.8 + Math.random() / 5);
    this.#retries += 1;
    this.#timer = setTimeout(() => this.#connect(), delay);
  }

  #drop() {
    clearTimeout(this.#timer);
    this.#greeted = false;
    this.#socket.onmessage = this.#socket.onclose = null;
    this.#socket.close();
  }

  #renew() {
    this.#retries = 0;
    this.#drop();
    this.#connect();
  }

  /** The page is seen, or has a network, again after it was away. */
  #return(longMs) {
    const away = this.#awaySince;
    this.#awaySince = null;
    if (document.hidden) return;
    const silent = away !== null && this.#heardAt < away && performance.now() - away >= longMs;
    if (!this.#greeted || silent) this.#renew();
  }
}

function endpoint() {
  const url = new URL("v1/realtime", document.baseURI);
  url.protocol = url.protocol.replace("http", "ws");
  url.search = url.hash = "";
  return url;
}
