"""A pipeline that says what a test tells it to, at the pace that the test sets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable

import numpy as np

from backend.contract.media import AudioClip
from backend.contract.turn import Turn, TurnSettings
from backend.engines.omni.outputs import StageOutput

RATE = 24_000


def measured(*stages: int, first_ms: float = 10.0, total_ms: float = 20.0) -> dict[str, dict]:
    """What the engine says of the times of some stages."""
    times = {"serving_time_to_first_output_ms": first_ms, "stage_gen_time_ms": total_ms}
    return {str(stage): times for stage in stages}


class ScriptedPipeline:
    """Stands in for ``Pipeline``; every request that is open is in ``running``."""

    talker = 2

    def __init__(self, reply: str | list[str] = "Hello there.", heard: str = "A question.") -> None:
        self.reply = [reply] if isinstance(reply, str) else reply
        self.heard = heard
        self.running: set[str] = set()
        self.clips: list[float] = []
        self.questions: list[str] = []
        self.spoken: list[str] = []
        self.drawn: list[tuple[int | None, float | None]] = []
        self.chunks = 2
        self.looked = asyncio.Event()
        self.on_word: Callable[[], object] = lambda: asyncio.sleep(0)
        self.on_hear: Callable[[], object] = lambda: asyncio.sleep(0)
        self.on_speak: Callable[[str], object] = lambda words: asyncio.sleep(0)

    async def _open(self, request_id: str) -> AsyncGenerator[None]:
        self.running.add(request_id)
        try:
            yield
        finally:
            self.running.discard(request_id)

    async def hear(
        self, clip: AudioClip, language: str, request_id: str
    ) -> AsyncGenerator[StageOutput]:
        async for _ in self._open(request_id):
            self.clips.append(clip.duration_s)
            await self.on_hear()
            yield StageOutput(text=f"language English<asr_text>{self.heard[:3]}")
            yield StageOutput(text=self.heard[3:], metrics=measured(0), waited_s=0.001)

    async def prompt_for(self, turn: Turn, question: str) -> dict:
        self.questions.append(question)
        return {}

    async def look(self, turn: Turn, request_id: str) -> None:
        async for _ in self._open(request_id):
            self.looked.set()
            await asyncio.Event().wait()

    async def think(
        self, prompt: dict, max_reply_tokens: int, request_id: str
    ) -> AsyncGenerator[StageOutput]:
        async for _ in self._open(request_id):
            for piece in self.reply:
                await self.on_word()
                yield StageOutput(text=piece, metrics=measured(1))

    def voice(self, turn: Turn) -> dict:
        return {}

    async def speak(
        self, words: str, fields: dict, request_id: str, settings: TurnSettings
    ) -> AsyncGenerator[StageOutput]:
        async for _ in self._open(request_id):
            self.spoken.append(words)
            self.drawn.append((settings.seed, settings.temperature))
            await self.on_speak(words)
            level = len(self.spoken) / 100
            for _ in range(self.chunks):
                pcm = np.full(1920, level, np.float32)
                yield StageOutput(pcm=pcm, sample_rate=RATE, metrics=measured(2, 3))
