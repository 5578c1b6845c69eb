"""Runs one turn on an engine and sees to it that it ends, and ends once."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from typing import Any, cast

from backend.contract.engine import Engine
from backend.contract.errors import TurnRefused
from backend.contract.events import (
    Event,
    Notice,
    Outcome,
    ReplyText,
    Silence,
    SpeechChunk,
    TurnEnd,
)
from backend.contract.tasks import task_kind
from backend.contract.turn import Turn
from backend.runtime.turn_stream import EventStream

log = logging.getLogger(__name__)

GRACE_S = 5.0
"""Seconds that a cancelled turn has to stop before its engine counts as hung."""


class TurnStalled(Exception):  # noqa: N818 - reads as the event that it reports
    """A turn made no progress for too long."""


class TurnHung(Exception):  # noqa: N818
    """A turn did not stop when it was told to: its engine has to be rebuilt."""


@dataclass(slots=True)
class Progress:
    """What a turn has produced so far; times are ``time.monotonic()`` seconds."""

    submitted_at: float
    started_at: float = 0.0
    last_at: float = 0.0
    first_text_at: float | None = None
    first_sound_at: float | None = None
    silent: bool = False
    notices: set[str] = field(default_factory=set)

    def note(self, event: Event) -> None:
        """Take the event into account."""
        self.last_at = time.monotonic()
        match event:
            case ReplyText() if self.first_text_at is None:
                self.first_text_at = event.at
            case SpeechChunk() if self.first_sound_at is None:
                self.first_sound_at = event.at
            case Silence():
                self.silent = True
            case Notice():
                self.notices.add(event.code)

    @property
    def answered(self) -> bool:
        """True once there is any reply."""
        return self.first_text_at is not None or self.first_sound_at is not None

    def metrics(self) -> dict[str, float]:
        """Seconds from submission to each milestone that was reached."""
        marks = {
            "queued_s": self.started_at or None,
            "first_text_s": self.first_text_at,
            "first_sound_s": self.first_sound_at,
            "total_s": time.monotonic(),
        }
        return {
            name: round(at - self.submitted_at, 4) for name, at in marks.items() if at is not None
        }


class TurnRunner:
    """Moves one turn's events from an engine into its stream, with a watch on progress."""

    def __init__(self, engine: Engine, stream: EventStream, *, stall_timeout_s: float) -> None:
        """Prepare a run; nothing starts yet."""
        self._engine = engine
        self._stream = stream
        self._stall_timeout_s = stall_timeout_s

    async def run(self, progress: Progress) -> TurnEnd:
        """Run the turn to its end and say how it ended; the stream is not closed yet.

        Raises:
            TurnHung: the engine did not let go of a stopped turn within ``GRACE_S``.
            TurnStalled: nothing happened for the stall timeout; the turn was stopped.
            Exception: whatever else the engine raised.
        """
        progress.started_at = progress.last_at = time.monotonic()
        pump = asyncio.create_task(self._pump(progress))
        self._stream.call_on_cancel(pump.cancel)
        try:
            await self._watch(pump, progress)
        except asyncio.CancelledError:
            await self._stop(pump)
            if not self._stream.cancelled:
                raise
            return self._end(Outcome.CANCELLED, progress)
        except TurnRefused as refusal:
            end = self._end(Outcome.FAILED, progress, refusal.message)
            return replace(end, refusal=refusal.code)
        if self._stream.cancelled:
            return self._end(Outcome.CANCELLED, progress)
        for event in self._missing(progress):
            await self._stream.put(event)
        return self._end(Outcome.ANSWERED if progress.answered else Outcome.SILENT, progress)

    async def _pump(self, progress: Progress) -> None:
        # Engines are async generators; the protocol promises no more than an iterator.
        events = cast("Any", self._engine.run(self._stream.turn))
        async with aclosing(events):
            async for event in events:
                if isinstance(event, SpeechChunk) and not len(event.pcm):
                    continue
                progress.note(event)
                await self._stream.put(event)

    async def _watch(self, pump: asyncio.Task[None], progress: Progress) -> None:
        while not pump.done():
            left = progress.last_at + self._stall_timeout_s - time.monotonic()
            if self._stream.cancelled:
                await self._stop(pump)
                return
            if left <= 0:
                await self._stop(pump)
                raise TurnStalled
            await asyncio.wait({pump}, timeout=min(left, self._stall_timeout_s / 4, GRACE_S))
        if self._stream.cancelled:
            with suppress(asyncio.CancelledError, Exception):
                pump.result()
            return
        pump.result()

    async def _stop(self, pump: asyncio.Task[None]) -> None:
        pump.cancel()
        await asyncio.wait({pump}, timeout=GRACE_S)
        if not pump.done():
            raise TurnHung
        if not pump.cancelled() and (error := pump.exception()):
            log.warning("turn raised while it was being stopped: %r", error)

    def _missing(self, progress: Progress) -> list[Event]:
        """What the person must be told when an engine left it unsaid."""
        turn_id = self._stream.turn.id
        if not progress.answered:
            if progress.silent:
                return []
            return [Silence(turn_id=turn_id, reason="The assistant had nothing to say.")]
        explained = any(code.startswith("speech_") for code in progress.notices)
        if progress.first_sound_at is not None or explained or not _speaks(self._stream.turn):
            return []
        text = "There is no sound for this reply; the text is complete."
        return [Notice(turn_id=turn_id, code="speech_missing", text=text)]

    def _end(self, outcome: Outcome, progress: Progress, message: str = "") -> TurnEnd:
        return TurnEnd(
            turn_id=self._stream.turn.id,
            outcome=outcome,
            message=message,
            metrics=progress.metrics(),
        )


def _speaks(turn: Turn) -> bool:
    """Whether the reply is to be spoken too."""
    task = turn.task
    return turn.settings.spoken and (task is None or task_kind(task.task, task.variant).speaks)
