"""A call in Chromium: what comes out of the player after something was said."""

from __future__ import annotations

import base64
import io
import math
from bisect import bisect
from pathlib import Path

import av
import numpy as np
from PIL import Image
from playwright.sync_api import CDPSession, Page

from bench.said import Said
from tests.browser.microphone import MICROPHONE

WORKLET = Path(__file__).parent / "loudness_worklet.js"
AUDIBLE = 1e-3
LOWERED = 0.25
"""Share of its loudness below which a reply does not talk over the person any more: -12 dB."""

SIZE = (1280, 900)
"""Of the page and its film, in pixels."""

FILM_FPS = 10

PREPARE = """
async (source) => {
  const { player } = window.omni;
  await player.unlock();
  const { context } = player.output;
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  await context.audioWorklet.addModule(url);
  const loudness = new AudioWorkletNode(context, "loudness");
  window.blocks = [];
  loudness.port.onmessage = ({ data }) => window.blocks.push(data);
  player.output.connect(loudness).connect(context.destination);
}
"""
LOUD = f"window.blocks.some(([at, peak]) => at > since && peak > {AUDIBLE})"


class CallPage:
    """A page in a call."""

    def __init__(self, page: Page, url: str) -> None:
        """Open the page and begin the call."""
        self._page = page
        page.add_init_script(MICROPHONE)
        page.goto(url)
        page.wait_for_selector(".engine[data-state=ready]", timeout=60_000)
        page.click("#call-button")
        self.listening()
        page.evaluate(PREPARE, WORKLET.read_text())

    def listening(self) -> None:
        """Wait until nothing is said any more."""
        self._page.wait_for_selector("#call-host .call[data-state=listening]", timeout=60_000)
        self._page.wait_for_timeout(700)

    def say(self, said: Said) -> float:
        """Begin to say it; when that was, in milliseconds of the wall clock."""
        at: float = self._page.evaluate("(w) => saySomething(w).then(() => Date.now())", said.wav)
        return at

    def first_sound_ms(self, said: Said) -> float:
        """From the end of what is said to the first sound of the answer."""
        ends_at = self.say(said) + 1000 * said.ends_s
        self._wait_for_sound(ends_at)
        return next(at for at, peak in self._blocks() if at > ends_at and peak > AUDIBLE) - ends_at

    def barge_in_ms(self, request: Said, word: Said) -> tuple[float, float] | None:
        """Interrupt a long answer; until it was lowered, and until it was silent.

        None where the answer was too short to be interrupted.
        """
        self._wait_for_sound(self.say(request) + 1000 * request.ends_s)
        self._page.wait_for_timeout(600)
        begins_at = self.say(word) + 1000 * word.begins_s
        self._page.wait_for_timeout(1000)  # the next answer takes longer than this
        blocks = self._blocks()
        before = [peak for at, peak in blocks if at < begins_at and peak > AUDIBLE]
        after = [(at, peak) for at, peak in blocks if begins_at < at < begins_at + 900]
        if max((at for at, peak in blocks if at < begins_at and peak > AUDIBLE)) < begins_at - 100:
            return None
        loud = LOWERED * float(np.quantile(before, 0.9))
        lowered = max((at for at, peak in after if peak > loud), default=begins_at)
        silent = max((at for at, peak in after if peak > AUDIBLE), default=begins_at)
        return lowered - begins_at, silent - begins_at

    def _wait_for_sound(self, since: float) -> None:
        self._page.wait_for_function(f"(since) => {LOUD}", arg=since, timeout=30_000)

    def _blocks(self) -> list[tuple[float, float]]:
        blocks: list[tuple[float, float]] = self._page.evaluate("window.blocks.slice(-2000)")
        return blocks


class Film:
    """Records what a page shows, through Chromium's own screencast."""

    def __init__(self, page: Page) -> None:
        """Begin to record."""
        self._frames: list[tuple[float, str]] = []
        self._session: CDPSession = page.context.new_cdp_session(page)
        self._session.on("Page.screencastFrame", self._take)
        self._session.send("Page.startScreencast", {"format": "jpeg", "quality": 70})

    def save(self, path: Path) -> None:
        """Stop, and write an MP4 in which every picture stands as long as it did."""
        self._session.send("Page.stopScreencast")
        first, last = self._frames[0][0], self._frames[-1][0]
        times = [at for at, _ in self._frames]
        with av.open(str(path), "w") as container:
            stream = container.add_stream("libx264", rate=FILM_FPS)
            stream.pix_fmt = "yuv420p"
            stream.width, stream.height = SIZE
            for number in range(math.ceil((last - first) * FILM_FPS) + 1):
                jpeg = self._frames[bisect(times, first + number / FILM_FPS) - 1][1]
                image = Image.open(io.BytesIO(base64.b64decode(jpeg))).convert("RGB").resize(SIZE)
                container.mux(stream.encode(av.VideoFrame.from_image(image)))
            container.mux(stream.encode())

    def _take(self, event: dict) -> None:
        self._frames.append((event["metadata"]["timestamp"], event["data"]))
        self._session.send("Page.screencastFrameAck", {"sessionId": event["sessionId"]})
