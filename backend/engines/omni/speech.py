"""The spoken side of a reply: its sentences in their order, the next one already being made."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing
from typing import Any

from backend.contract.events import Notice, SpeechChunk, Stage, StageStarted
from backend.contract.turn import Turn
from backend.conversation.speech_text import speakable
from backend.engines.events import Emit
from backend.engines.omni.outputs import StageClock, StageOutput
from backend.engines.omni.pipeline import Pipeline

_log = logging.getLogger(__name__)

AT_ONCE = 2
"""Sentences of one reply that are made at a time: the second is ready when the first ends."""

_Sound = StageOutput | Exception | None


class SpokenReply:
    """Speaks one turn's reply; a failure costs the sound and not the turn."""

    def __init__(
        self, turn: Turn, pipeline: Pipeline, emit: Emit, group: asyncio.TaskGroup
    ) -> None:
        """Start to listen for sentences; the work lives in ``group``."""
        self._turn = turn
        self._pipeline = pipeline
        self._emit = emit
        self._group = group
        self._voice = pipeline.voice(turn)
        self._places = asyncio.Semaphore(AT_ONCE)
        self._sentences: asyncio.Queue[asyncio.Queue[_Sound] | None] = asyncio.Queue()
        self._clocks = StageClock(Stage.SPEAK, 2), StageClock(Stage.SOUND, 3)
        self._spoken = 0
        self.failed = False
        group.create_task(self._play())

    def say(self, sentence: str) -> None:
        """Take the next sentence as it was written."""
        words = speakable(sentence)
        if not words or not self._turn.settings.spoken:
            return
        if not self._spoken:
            self._emit(StageStarted(turn_id=self._turn.id, stage=Stage.SPEAK))
        self._spoken += 1
        sound: asyncio.Queue[_Sound] = asyncio.Queue()
        self._sentences.put_nowait(sound)
        self._group.create_task(self._make(words, f"{self._turn.id}-{self._spoken}", sound))

    def end(self) -> None:
        """There are no more sentences."""
        self._sentences.put_nowait(None)

    async def _make(self, words: str, request_id: str, sound: asyncio.Queue[_Sound]) -> None:
        try:
            async with self._places:
                outputs: Any = self._pipeline.speak(words, self._voice, request_id)
                async with aclosing(outputs):
                    async for output in outputs:
                        sound.put_nowait(output)
        except Exception as error:
            sound.put_nowait(error)
        else:
            sound.put_nowait(None)

    async def _play(self) -> None:
        while (sound := await self._sentences.get()) is not None:
            last: StageOutput | None = None
            while (piece := await sound.get()) is not None:
                if isinstance(piece, Exception):
                    self._tell_failure(piece)
                    break
                last = piece
                self._chunk(piece)
            if last is not None:
                for clock in self._clocks:
                    clock.add(last)
        for clock in self._clocks:
            if timing := clock.timing(self._turn.id):
                self._emit(timing)

    def _chunk(self, piece: StageOutput) -> None:
        if not piece.sample_rate or not len(piece.pcm):
            return
        turn_id = self._turn.id
        self._emit(SpeechChunk(turn_id=turn_id, pcm=piece.pcm, sample_rate=piece.sample_rate))

    def _tell_failure(self, error: Exception) -> None:
        _log.error("Speech of turn %s failed", self._turn.id, exc_info=error)
        if not self.failed:
            text = "A part of the reply could not be spoken."
            self._emit(Notice(turn_id=self._turn.id, code="speech_failed", text=text))
        self.failed = True
