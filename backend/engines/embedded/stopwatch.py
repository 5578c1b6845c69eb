"""How long a stage of a turn takes."""

from __future__ import annotations

import time

from backend.contract.events import Stage, StageTiming


class Stopwatch:
    """Runs from its making; ``mark`` notes the first output."""

    def __init__(self, turn_id: str, stage: Stage) -> None:
        """Start now."""
        self._turn_id = turn_id
        self._stage = stage
        self._started = time.monotonic()
        self._first: float | None = None

    def mark(self) -> None:
        """Note that the stage gave something; only the first time counts."""
        if self._first is None:
            self._first = time.monotonic() - self._started

    def timing(self) -> StageTiming:
        """The stage's times up to now. Stages here never wait: a turn has them for itself."""
        total = time.monotonic() - self._started
        return StageTiming(
            turn_id=self._turn_id,
            stage=self._stage,
            queue_s=0.0,
            first_output_s=total if self._first is None else self._first,
            total_s=total,
        )
