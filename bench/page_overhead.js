/**
 * The page's half of page_overhead.py: plays a round through our player or through `gr.Audio`, and
 * says when it was heard. One detector, the same for both, listens to what each really puts out.
 */

import { Player } from "/static/player.js";

const signs = { player: new EventTarget(), gradio: new EventTarget() };

async function listen(output, context, kind) {
  await context.audioWorklet.addModule("/bench/sound_onset_worklet.js");
  const onset = new AudioWorkletNode(context, "sound-onset");
  onset.port.onmessage = ({ data }) => {
    signs[kind].dispatchEvent(new CustomEvent(data.type, { detail: data.at }));
  };
  output.connect(onset).connect(context.destination);
}

async function preparePlayer() {
  const player = new Player();
  await player.unlock();
  await listen(player.output, player.output.context, "player");
  const socket = new WebSocket(`ws://${location.host}/ws`);
  const handlers = {
    "response.created": ({ response_id, sample_rate }) => player.begin(response_id, sample_rate),
    "response.output_audio.delta": ({ response_id, delta }) =>
      player.push(response_id, decodePcm16(delta)),
    "response.output_audio.done": ({ response_id }) => player.end(response_id),
  };
  socket.onmessage = ({ data }) => {
    const event = JSON.parse(data);
    handlers[event.type](event);
  };
  await new Promise((resolve) => (socket.onopen = resolve));
  return () => socket.send(JSON.stringify({ type: "response.create" }));
}

function decodePcm16(text) {
  return new Int16Array(Uint8Array.from(atob(text), (char) => char.charCodeAt(0)).buffer);
}

async function prepareGradio() {
  const context = new AudioContext({ latencyHint: "interactive" });
  const joint = new GainNode(context);
  await listen(joint, context, "gradio");
  const known = new WeakSet();
  const attach = () => {
    for (const element of document.querySelectorAll("#streamed audio")) {
      if (known.has(element)) continue;
      known.add(element);
      context.createMediaElementSource(element).connect(joint);
      element.addEventListener("playing", () => {
        signs.gradio.dispatchEvent(new CustomEvent("playing", { detail: Date.now() }));
      });
    }
  };
  new MutationObserver(attach).observe(document.body, { childList: true, subtree: true });
  attach();
  return () => document.querySelector("#speak").click();
}

function next(target, type, timeoutMs) {
  return new Promise((resolve) => {
    const settle = ({ detail }) => resolve(detail ?? null);
    target.addEventListener(type, settle, { once: true });
    setTimeout(() => resolve(null), timeoutMs);
  });
}

/** Call from a gesture: both ways of playing need one. */
window.prepare = async () => {
  const start = { player: await preparePlayer(), gradio: await prepareGradio() };

  /** One reply; `{heardAt, playingAt}` in milliseconds since the epoch, or null when not seen. */
  window.playRound = async (kind, timeoutMs) => {
    const heard = next(signs[kind], "onset", timeoutMs);
    const playing = next(signs[kind], "playing", timeoutMs);
    const quiet = next(signs[kind], "quiet", timeoutMs);
    start[kind]();
    const heardAt = await heard;
    await quiet;
    return { heardAt, playingAt: kind === "gradio" ? await playing : null };
  };
};
