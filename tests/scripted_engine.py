"""A test double: an engine that follows a script, so that the runtime and page can be tried."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import numpy as np

from backend.contract.engine import Capabilities, Progress
from backend.contract.errors import EngineFailed
from backend.contract.events import (
    Event,
    ReplyText,
    Silence,
    SpeechChunk,
    Stage,
    StageStarted,
    Transcript,
)
from backend.contract.media import AudioClip
from backend.contract.turn import Turn
from backend.contract.voice import VoiceControls

RATE = 24_000

ONE_VOICE = VoiceControls(speakers=("tone",), changes_speed=True)

Script = Callable[["ScriptedEngine", Turn], AsyncIterator[Event]]


def tone(seconds: float, hz: float = 440.0, rate: int = RATE) -> np.ndarray:
    """A sine of amplitude 0.3, float32 mono."""
    return (0.3 * np.sin(2 * np.pi * hz * np.arange(int(seconds * rate)) / rate)).astype("float32")


def say(text: str = "Hello there.", *, chunks: int = 3, chunk_s: float = 0.2, pause_s: float = 0.0):
    """A script that answers with ``text`` and ``chunks`` pieces of one unbroken tone."""

    async def script(engine: ScriptedEngine, turn: Turn) -> AsyncIterator[Event]:
        if turn.audio is not None:
            yield StageStarted(turn_id=turn.id, stage=Stage.HEAR)
            yield Transcript(turn_id=turn.id, text=turn.heard or "scripted words", final=True)
        yield StageStarted(turn_id=turn.id, stage=Stage.THINK)
        words = text.split(" ")
        for n, word in enumerate(words):
            yield ReplyText(turn_id=turn.id, delta=word + (" " if n < len(words) - 1 else ""))
        yield StageStarted(turn_id=turn.id, stage=Stage.SPEAK)
        for piece in np.array_split(tone(chunks * chunk_s), chunks) if chunks else []:
            yield SpeechChunk(turn_id=turn.id, pcm=piece, sample_rate=RATE)
            await asyncio.sleep(pause_s)

    return script


async def echo(engine: ScriptedEngine, turn: Turn) -> AsyncIterator[Event]:
    """Answer with the typed text, as it came."""
    yield ReplyText(turn_id=turn.id, delta=turn.text)
    yield SpeechChunk(turn_id=turn.id, pcm=tone(0.2), sample_rate=RATE)


async def stay_silent(engine: ScriptedEngine, turn: Turn) -> AsyncIterator[Event]:
    """Choose not to reply."""
    yield StageStarted(turn_id=turn.id, stage=Stage.THINK)
    yield Silence(turn_id=turn.id, reason="Nothing was asked.")


async def only_finish(engine: ScriptedEngine, turn: Turn) -> AsyncIterator[Event]:
    """End without a word."""
    return
    yield


async def raise_error(engine: ScriptedEngine, turn: Turn) -> AsyncIterator[Event]:
    """Raise in the middle of a reply; the engine stays healthy."""
    yield ReplyText(turn_id=turn.id, delta="I was about to")
    raise ValueError("a stage raised")


async def die(engine: ScriptedEngine, turn: Turn) -> AsyncIterator[Event]:
    """Raise, and be unhealthy from then on."""
    engine.healthy = False
    raise EngineFailed("a stage died")
    yield


async def hang(engine: ScriptedEngine, turn: Turn) -> AsyncIterator[Event]:
    """Say one thing, then nothing for a long time; can be cancelled."""
    yield ReplyText(turn_id=turn.id, delta="Well,")
    await asyncio.sleep(3600)


async def ignore_cancel(engine: ScriptedEngine, turn: Turn) -> AsyncIterator[Event]:
    """Hang and refuse to be cancelled, until the engine is closed."""
    yield ReplyText(turn_id=turn.id, delta="Well,")
    while not engine.closed:
        try:
            await asyncio.sleep(0.02)
        except asyncio.CancelledError:
            continue


@dataclass
class ScriptedEngine:
    """Follows ``script``, or per typed text the one in ``scripts``."""

    script: Script = field(default_factory=say)
    name: str = "scripted"
    scripts: dict[str, Script] = field(default_factory=dict)
    voice: VoiceControls = ONE_VOICE
    concurrent: int = 1
    load_s: float = 0.0
    load_error: str = ""
    healthy: bool = True
    sees: bool = False
    recites: bool = False
    hears_ahead: bool = True
    answers: bool = True
    tasks: tuple[str, ...] = ()
    closed: bool = False
    running: int = 0
    words: str = "scripted words."
    heard: list[AudioClip] = field(default_factory=list)
    runs: list[Turn] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    foreseen: list[Turn] = field(default_factory=list)

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            name=self.name,
            summary="A test double.",
            sees_pictures=self.sees,
            languages=("auto", "en"),
            voice=self.voice,
            sample_rate=RATE,
            max_concurrent_turns=self.concurrent,
            recites=self.recites,
            hears_ahead=self.hears_ahead,
            answers=self.answers,
            tasks=self.tasks,
        )

    async def load(self, progress: Progress) -> None:
        progress(0.5, "Loading the script")
        await asyncio.sleep(self.load_s)
        if self.load_error:
            raise EngineFailed(self.load_error)

    async def run(self, turn: Turn) -> AsyncIterator[Event]:
        self.runs.append(turn)
        self.running += 1
        try:
            async for event in self.scripts.get(turn.text, self.script)(self, turn):
                yield event
        except (asyncio.CancelledError, GeneratorExit):
            self.stopped.append(turn.id)
            raise
        finally:
            self.running -= 1

    async def hear(self, clip: AudioClip, language: str) -> str:
        self.heard.append(clip)
        return self.words

    async def foresee(self, turn: Turn) -> None:
        self.foreseen.append(turn)

    async def health(self) -> None:
        if not self.healthy:
            raise EngineFailed("a stage died")

    async def close(self) -> None:
        self.closed = True
