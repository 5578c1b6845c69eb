"""What a turn's work says of itself."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress

from backend.contract.events import Notice, Stage, StageProgress, StageStarted
from backend.engines.embedded.stages import Report
from backend.engines.embedded.stopwatch import Stopwatch
from backend.engines.events import Emit

PROGRESS_EVERY_S = 2.0
"""Shortest time between two ``StageProgress`` of a stage, in seconds."""


class Telling:
    """The voice of one turn on the engine's loop; only what ``reports`` makes is for threads."""

    def __init__(self, turn_id: str, emit: Emit) -> None:
        """``emit`` takes the events, in order."""
        self._turn_id = turn_id
        self.event = emit

    def start(self, stage: Stage) -> Stopwatch:
        """Tell that a stage starts, and time it."""
        self.event(StageStarted(turn_id=self._turn_id, stage=stage))
        return Stopwatch(self._turn_id, stage)

    def notice(self, code: str, text: str) -> None:
        """Tell the person something although the turn goes on."""
        self.event(Notice(turn_id=self._turn_id, code=code, text=text))

    def reports(self, stage: Stage) -> Report:
        """What a stage calls from its thread whenever it has got on with silent work.

        No timer stands behind it: a stage that hangs says nothing.
        """
        loop, told_at = asyncio.get_running_loop(), time.monotonic()

        def report(share: float) -> None:
            nonlocal told_at
            if time.monotonic() - told_at < PROGRESS_EVERY_S:
                return
            told_at = time.monotonic()
            event = StageProgress(turn_id=self._turn_id, stage=stage, share=share)
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self.event, event)

        return report
