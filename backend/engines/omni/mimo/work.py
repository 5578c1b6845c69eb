"""One task through MiMo-Audio: from the request to its words, its captions and its sound."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

from backend.contract.events import Notice, Stage, StageProgress, StageStarted, TaskSent
from backend.contract.tasks import TaskRequest
from backend.contract.turn import Turn
from backend.engines.ending import stopped
from backend.engines.events import Emit
from backend.engines.failures import plainly
from backend.engines.omni.mimo.pipeline import MimoPipeline
from backend.engines.omni.mimo.prompts import FittedPrompt
from backend.engines.omni.mimo.reply import Reply
from backend.engines.omni.mimo.specs import TaskSpec
from backend.engines.omni.mimo.tasks import task
from backend.engines.omni.outputs import StageClock, StageOutput

_FAILED = "The model failed while it worked on this. Try again."

_PROGRESS_EVERY_S = 3.0
_READING_S, _READING_S_A_SECOND = 10.0, 2.0
"""Longest that the reading of a prompt takes: of any, and more for each second of sound in it."""


class TaskWork:
    """Works on the task of one turn and tells of it through ``emit``."""

    def __init__(self, turn: Turn, pipeline: MimoPipeline, emit: Emit) -> None:
        """Prepare the work; ``run`` does it."""
        self._turn = turn
        self._pipeline = pipeline
        self._emit = emit

    async def run(self) -> None:
        """Do all the work. Cancelling it aborts the request in the engine.

        Raises:
            TurnRefused: The request cannot be worked on. The engine has not been asked then.
            StageFailed: The engine failed on it.
        """
        request = self._turn.task
        if request is None:
            raise ValueError("This turn has no task.")
        spec = task(request.task, request.variant)
        with plainly(_FAILED):
            await self._work(spec, request)

    async def _work(self, spec: TaskSpec, request: TaskRequest) -> None:
        sampling = self._pipeline.sampling(spec, self._turn.settings)
        # Clips are brought to the model's rate, and long texts counted: not on the loop.
        fitted = await asyncio.to_thread(
            self._pipeline.prompt_for, spec, request, sampling["max_tokens"]
        )
        self._tell_sent(fitted, sampling)
        self._emit(StageStarted(turn_id=self._turn.id, stage=Stage.THINK))
        modalities = spec.modalities if self._turn.settings.spoken else ["text"]
        reply = Reply(
            self._turn.id,
            spec.ending,
            self._emit,
            speaks="audio" in modalities,
            longest=sampling["max_tokens"],
        )
        reading = asyncio.create_task(self._tell_reading(fitted))
        request_id = f"{self._turn.id}-task"
        stream = self._pipeline.run(fitted.prompt, sampling, modalities, request_id)
        last = StageOutput()
        try:
            async with aclosing(stream):
                async for last in stream:
                    reading.cancel()
                    if reply.take(last):
                        break
        finally:
            await stopped(reading)
        reply.end()
        self._tell_times(last)

    def _tell_sent(self, fitted: FittedPrompt, sampling: Mapping[str, Any]) -> None:
        turn_id, left_out = self._turn.id, fitted.left_out
        self._emit(
            TaskSent(
                turn_id=turn_id,
                prompt=fitted.prompt.text,
                clips_s=tuple(clip.duration_s for clip in fitted.prompt.audios),
                sampling={k: v for k, v in sampling.items() if isinstance(v, (int, float))},
                tokens=fitted.tokens,
                limit=self._pipeline.context,
                left_out=left_out,
            )
        )
        if left_out:
            turns = "turn is" if left_out == 1 else f"{left_out} turns are"
            text = f"The oldest {turns} left out: the whole dialogue is too long for the model."
            self._emit(Notice(turn_id=turn_id, code="history_cut", text=text))

    async def _tell_reading(self, fitted: FittedPrompt) -> None:
        """Say now and then that a long clip is still being read, which gives no outputs."""
        sound_s = sum(clip.duration_s for clip in fitted.prompt.audios)
        longest_s = _READING_S + _READING_S_A_SECOND * sound_s
        started_at = time.monotonic()
        while (share := (time.monotonic() - started_at) / longest_s) < 1:
            await asyncio.sleep(_PROGRESS_EVERY_S)
            self._emit(StageProgress(turn_id=self._turn.id, stage=Stage.THINK, share=share))

    def _tell_times(self, last: StageOutput) -> None:
        for number, stage in enumerate((Stage.THINK, Stage.SOUND)):
            clock = StageClock(stage, number)
            clock.add(last)
            if timing := clock.timing(self._turn.id):
                self._emit(timing)
