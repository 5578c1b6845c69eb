/** What the app sees in a call: the camera or the screen, one picture a second. */

const EVERY_MS = 1000;
const LONG_SIDE_PX = 640;
const QUALITY = 0.7;

export class Eyes {
  #video;
  #changed;
  #stream = null;
  #cameraId = null;
  #timer = null;
  #picture = null;
  #asked = 0;
  #canvas = document.createElement("canvas");

  /** What is looked at: "camera", "screen", or nothing. */
  source = "";

  /** True when there is another camera to switch to. */
  hasOtherCamera = false;

  /** @param {HTMLVideoElement} video Shows what is seen.
   *  @param {(problem: string) => void} changed Told of every change, and of what went wrong. */
  constructor(video, changed) {
    this.#video = video;
    this.#changed = changed;
  }

  /** Opens this source in place of the one that is open, or closes it when it is open itself.
   *  @param {"camera" | "screen"} source */
  toggle(source) {
    if (this.source === source) this.close();
    else this.#open(source);
  }

  /** Goes on to the next camera. */
  async switchCamera() {
    const ids = await cameraIds();
    const next = (ids.indexOf(this.#cameraId) + 1) % ids.length;
    this.#cameraId = ids[next];
    await this.#open("camera");
  }

  /** Gives the camera or the screen back; its light goes off. */
  close() {
    this.#asked += 1;
    this.#release();
    this.#changed("");
  }

  /** @returns {string[]} The newest picture that was not taken yet, as a base64 JPEG, or none. */
  take() {
    const pictures = this.#picture ? [this.#picture] : [];
    this.#picture = null;
    return pictures;
  }

  async #open(source) {
    const asked = ++this.#asked;
    this.#release(); // first: many phones open one camera at a time
    try {
      const stream = await openStream(source, this.#cameraId);
      if (asked !== this.#asked) return stop(stream);
      this.#show(source, stream);
      this.#changed("");
      await this.#video.play().catch(() => {}); // torn away again before it began
      this.hasOtherCamera = source === "camera" && (await cameraIds()).length > 1;
    } catch (error) {
      if (asked === this.#asked) this.#changed(refusal(source, error));
      return;
    }
    if (asked === this.#asked) this.#changed("");
  }

  #show(source, stream) {
    const [track] = stream.getVideoTracks();
    this.#stream = stream;
    this.source = source;
    if (source === "camera") this.#cameraId = track.getSettings().deviceId;
    track.addEventListener("ended", () => this.#stream === stream && this.#lose(source));
    this.#video.srcObject = stream;
    this.#video.onloadeddata = () => this.#look();
    this.#timer = setInterval(() => this.#look(), EVERY_MS);
  }

  #lose(source) {
    this.close();
    const gone = source === "screen" ? "The screen is no longer shared." : "The camera was disconnected.";
    this.#changed(gone);
  }

  #release() {
    clearInterval(this.#timer);
    if (this.#stream) stop(this.#stream);
    this.#video.srcObject = null;
    this.#stream = this.#picture = null;
    this.source = "";
    this.hasOtherCamera = false;
  }

  #look() {
    const { videoWidth: width, videoHeight: height } = this.#video;
    if (!width) return;
    const scale = Math.min(1, LONG_SIDE_PX / Math.max(width, height));
    this.#canvas.width = Math.round(width * scale);
    this.#canvas.height = Math.round(height * scale);
    const { width: w, height: h } = this.#canvas;
    this.#canvas.getContext("2d").drawImage(this.#video, 0, 0, w, h);
    this.#picture = this.#canvas.toDataURL("image/jpeg", QUALITY).split(",")[1];
  }
}

function openStream(source, cameraId) {
  const { mediaDevices } = navigator;
  if (!mediaDevices) throw new Error("browsers offer it only on https pages and on localhost");
  if (source === "screen") return mediaDevices.getDisplayMedia({ video: { frameRate: 5 } });
  const camera = cameraId ? { deviceId: { ideal: cameraId } } : { facingMode: "user" };
  return mediaDevices.getUserMedia({ video: { width: { ideal: LONG_SIDE_PX }, ...camera } });
}

async function cameraIds() {
  const devices = await navigator.mediaDevices.enumerateDevices();
  return devices.filter(({ kind }) => kind === "videoinput").map(({ deviceId }) => deviceId);
}

function refusal(source, { name, message }) {
  if (name === "NotAllowedError" && source === "screen") return "No screen was chosen to be shared.";
  if (name === "NotAllowedError")
    return "The browser was not allowed to use the camera. Allow it for this page, then try again.";
  if (name === "NotFoundError") return "No camera was found.";
  if (name === "NotReadableError") return "The camera is in use by another program.";
  return `The ${source} could not be opened: ${message}`;
}

function stop(stream) {
  for (const track of stream.getTracks()) track.stop();
}
