"""The app on scripted engines, and what a person does to its page."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from backend.contract.events import (
    Notice,
    ReplyText,
    SpeechChunk,
    Stage,
    StageProgress,
    StageStarted,
)
from backend.conversation.pcm import to_pcm16
from backend.runtime.engine_thread import EngineThread
from tests.browser.listening import at_rate, trimmed
from tests.scripted_engine import (
    RATE,
    Script,
    ScriptedEngine,
    die,
    hang,
    raise_error,
    say,
    stay_silent,
    tone,
)
from tests.serving import serve

GATE = threading.Event()
"""What the scripts below wait for; the fixture ``gate`` closes it before a test."""


async def gate_opens() -> None:
    """Wait for it on the engine's loop."""
    while not GATE.is_set():  # noqa: ASYNC110 - it is set from another thread
        await asyncio.sleep(0.01)


async def halves(engine, turn):
    """Say one half, wait, say the other."""
    first, second = tone(0.2), tone(0.4)[len(tone(0.2)) :]
    yield StageStarted(turn_id=turn.id, stage=Stage.SPEAK)
    for words, sound in (("Part one. ", first), ("Part two.", second)):
        yield ReplyText(turn_id=turn.id, delta=words)
        yield SpeechChunk(turn_id=turn.id, pcm=sound, sample_rate=RATE)
        await gate_opens()


async def held(engine, turn):
    """Think until the gate opens, then answer."""
    yield StageStarted(turn_id=turn.id, stage=Stage.THINK)
    await gate_opens()
    yield ReplyText(turn_id=turn.id, delta="At last.")
    yield SpeechChunk(turn_id=turn.id, pcm=tone(0.2), sample_rate=RATE)


async def piecemeal(engine, turn):
    """Say ten pieces of one tone; all but the first two are made once the gate has opened."""
    yield ReplyText(turn_id=turn.id, delta="Piece by piece.")
    for number, piece in enumerate(np.array_split(tone(2.0), 10)):
        if number == 2:
            await gate_opens()
        yield SpeechChunk(turn_id=turn.id, pcm=piece, sample_rate=RATE)


async def queued(engine, turn):
    """Wait for others, then hear for long."""
    yield Notice(turn_id=turn.id, code="queued", text="Two are before you.")
    await gate_opens()
    GATE.clear()
    yield StageStarted(turn_id=turn.id, stage=Stage.HEAR)
    yield StageProgress(turn_id=turn.id, stage=Stage.HEAR, share=0.42)
    await gate_opens()
    yield ReplyText(turn_id=turn.id, delta="At last.")


SCRIPTS = {
    "quiet": stay_silent,
    "bad": raise_error,
    "die": die,
    "hang": hang,
    "long": say("A long reply that goes on.", chunks=400, chunk_s=0.1, pause_s=0.03),
    "short": say("Yes.", chunks=1, chunk_s=0.2),
    "mute": say("Only words.", chunks=0),
    "halves": halves,
    "held": held,
    "piecemeal": piecemeal,
    "queued": queued,
}

SOUND = trimmed(to_pcm16(tone(0.2)))
"""What is heard of every short reply: the engine's samples, one for one."""


def assert_heard(pcm16: bytes) -> None:
    """The engine's samples, one for one; where they stop short, 5 ms that sink to zero."""
    assert pcm16[: len(SOUND)] == SOUND
    assert len(pcm16) - len(SOUND) <= 2 * 0.005 * RATE


def assert_heard_last(pcm16: bytes) -> None:
    """The same, after another reply that was cut: its fade of 8 ms may run straight into this."""
    assert_heard(pcm16[pcm16.rfind(SOUND) :])


class World:
    """The app, its engines, and pages that look at it."""

    def __init__(self, url: str, engines: list[ScriptedEngine]) -> None:
        self.url = url
        self.engines = engines

    @property
    def engine(self) -> ScriptedEngine:
        return self.engines[-1]


@contextmanager
def scripted(script: Script, **abilities) -> Iterator[World]:
    """The app on scripted engines that all follow ``script`` and have these abilities."""
    engines: list[ScriptedEngine] = []

    def make() -> ScriptedEngine:
        engines.append(ScriptedEngine(script, **abilities))
        return engines[-1]

    with serve(EngineThread(make)) as url:
        yield World(url, engines)


async def open_page(page, url: str) -> None:
    """Open the app and wait until it can be used."""
    await page.add_init_script(at_rate(RATE))
    await page.goto(url)
    await page.wait_for_selector(".engine[data-state=ready]", timeout=60_000)


async def send(page, text: str) -> None:
    """Type and press Enter."""
    await page.fill("#message textarea", text)
    await page.press("#message textarea", "Enter")


async def last_turn(page, outcome: str = "answered", count: int = 1):
    """The newest of ``count`` turns, once it has ended so."""
    turn = page.locator(f".turn:nth-of-type({count})[data-outcome={outcome}]")
    await turn.wait_for(timeout=30_000)
    return turn


async def until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait until a condition holds."""
    for _ in range(int(seconds / 0.05)):
        if condition():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the condition was not reached in time")
