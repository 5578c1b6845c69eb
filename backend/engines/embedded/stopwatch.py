"""How long a stage of a turn takes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TypeVar

from backend.contract.events import Stage, StageTiming

T = TypeVar("T")


class Stopwatch:
    """Runs from its making, which is when the stage is wished for.

    ``timed`` goes around the stage's work in its thread, ``mark`` notes the first output.
    """

    def __init__(self, turn_id: str, stage: Stage) -> None:
        """Start now."""
        self._turn_id = turn_id
        self._stage = stage
        self._started = time.monotonic()
        self._queue: float | None = None
        self._first: float | None = None

    def timed(self, items: Iterator[T]) -> Iterator[T]:
        """The same items; the wait for the stage's thread ends when the first is asked for."""
        if self._queue is None:
            self._queue = time.monotonic() - self._started
        yield from items

    def mark(self) -> None:
        """Note that the stage gave something; only the first time counts."""
        if self._first is None:
            self._first = time.monotonic() - self._started

    def timing(self) -> StageTiming:
        """The stage's times up to now; the wait for its thread is part of the other two."""
        total = time.monotonic() - self._started
        return StageTiming(
            turn_id=self._turn_id,
            stage=self._stage,
            queue_s=total if self._queue is None else self._queue,
            first_output_s=total if self._first is None else self._first,
            total_s=total,
        )
