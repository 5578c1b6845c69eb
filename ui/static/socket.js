/**
 * The session's WebSocket: connects, greets, and comes back by itself after a loss.
 *
 * Events: "message" with the parsed message as `detail`; "open" and "lost".
 */

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 8000;

export class RealtimeSocket extends EventTarget {
  #socket = null;
  #sessionId;
  #retryMs = FIRST_RETRY_MS;

  /** @param {string} sessionId Whose events to carry. */
  constructor(sessionId) {
    super();
    this.#sessionId = sessionId;
    this.#connect();
  }

  /** @returns {boolean} Whether the message could be sent now. */
  send(message) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  #connect() {
    const url = new URL("v1/realtime", document.baseURI);
    url.protocol = url.protocol.replace("http", "ws");
    url.search = url.hash = "";
    const socket = new WebSocket(url);
    this.#socket = socket;
    socket.onopen = () => {
      this.#retryMs = FIRST_RETRY_MS;
      this.send({ type: "session.update", session: { id: this.#sessionId } });
      this.dispatchEvent(new Event("open"));
    };
    socket.onmessage = ({ data }) =>
      this.dispatchEvent(new CustomEvent("message", { detail: JSON.parse(data) }));
    socket.onclose = () => {
      this.dispatchEvent(new Event("lost"));
      setTimeout(() => this.#connect(), this.#retryMs);
      this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS);
    };
  }
}
