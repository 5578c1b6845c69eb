"""Hears what the page's player really puts out, sample by sample."""

from __future__ import annotations

import base64
from pathlib import Path

TAP = (Path(__file__).parent / "tap_worklet.js").read_text()

# The tap records the player's output node; at the reply's own rate the player passes samples on
# untouched, so the page's AudioContext is opened at the scripted engine's rate.
PREPARE = """
(() => {
  const Native = window.AudioContext;
  window.AudioContext = class extends Native {
    constructor(options) { super({ ...options, sampleRate: RATE }); }
  };
})();
"""

LISTEN = """
async (tapSource) => {
  const { player } = window.omni;
  await player.unlock();
  const context = player.output.context;
  const url = URL.createObjectURL(new Blob([tapSource], { type: "text/javascript" }));
  await context.audioWorklet.addModule(url);
  const tap = new AudioWorkletNode(context, "tap");
  const ear = { batches: [], started: 0, ended: 0, pushed: 0, frames: 0 };
  tap.port.onmessage = ({ data }) => {
    ear.batches.push(data.samples);
    ear.frames += data.samples.length;
  };
  player.output.connect(tap).connect(context.destination);
  player.addEventListener("started", () => { ear.started += 1; });
  player.addEventListener("ended", () => { ear.ended += 1; });
  const push = player.push.bind(player);
  player.push = (...args) => { ear.pushed += 1; push(...args); };
  window.ear = ear;
}
"""

COLLECT = """
async () => {
  const { ear } = window;
  const goal = ear.frames + 4096;
  while (ear.frames < goal) await new Promise((resolve) => setTimeout(resolve, 5));
  const all = ear.batches.flatMap((batch) => Array.from(batch, (s) => Math.round(s * 32768)));
  ear.batches = [];
  let first = all.findIndex((sample) => sample !== 0);
  let last = all.length;
  while (last > 0 && all[last - 1] === 0) last -= 1;
  const pcm = Int16Array.from(first < 0 ? [] : all.slice(first, last));
  let text = "";
  for (const byte of new Uint8Array(pcm.buffer)) text += String.fromCharCode(byte);
  return btoa(text);
}
"""


# The player wakes the device at each reply; held, it stays asleep.
HOLD = """
() => {
  const { context } = window.omni.player.output;
  context.resume = async () => {};
  return context.suspend();
}
"""
RELEASE = """
() => {
  const { context } = window.omni.player.output;
  delete context.resume;
  return context.resume();
}
"""


def at_rate(rate: int) -> str:
    """A script that opens the page's sound device at ``rate`` hertz."""
    return PREPARE.replace("RATE", str(rate))


def trimmed(pcm16: bytes) -> bytes:
    """PCM16 without the zero samples at both ends, which no ear can tell from silence."""
    samples = memoryview(pcm16).cast("h")
    first = next((n for n, sample in enumerate(samples) if sample), len(samples))
    last = next((n for n in range(len(samples), first, -1) if samples[n - 1]), first)
    return bytes(samples[first:last])


class Ear:
    """Listens to one page; counts replies so that each is collected once."""

    def __init__(self, page) -> None:
        self._page = page
        self._heard = 0

    @classmethod
    async def listen(cls, page) -> Ear:
        """Attach to the page's player."""
        await page.evaluate(LISTEN, TAP)
        return cls(page)

    async def begun(self) -> None:
        """Return once a reply can be heard."""
        await self._page.wait_for_function("window.ear.started > 0", timeout=20_000)

    async def hold(self) -> None:
        """Stop the sound device, so that a reply waits until it is whole, however late it comes."""
        await self._page.evaluate(HOLD)

    async def release(self) -> None:
        """Let the sound device go on."""
        await self._page.evaluate(RELEASE)

    async def reply(self, count: int = 1) -> bytes:
        """What was heard since the last call once ``count`` replies have ended: trimmed PCM16."""
        self._heard += count
        await self._page.wait_for_function(f"window.ear.ended >= {self._heard}", timeout=30_000)
        return base64.b64decode(await self._page.evaluate(COLLECT))

    async def pushed(self) -> int:
        """Pieces of sound that the player was given."""
        return await self._page.evaluate("window.ear.pushed")

    async def quiet_now(self) -> bool:
        """True when nothing sounds any more; forgets what was heard before."""
        await self._page.evaluate(COLLECT)
        self._heard = await self._page.evaluate("window.ear.ended")
        return await self._page.evaluate(COLLECT) == ""
