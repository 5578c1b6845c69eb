"""One piece of work, in as many turns of the engine as it has parts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

from backend.contract.engine import TurnStream
from backend.contract.errors import TurnRefused
from backend.contract.events import Event, Outcome, TurnEnd
from backend.contract.turn import Turn, new_turn_id
from backend.tasks.joining import GOES_ON, Joiner
from backend.tasks.parts import parts_of

_AGAIN_S = 1.0  # until a part that found no place in the line asks again


class TaskJob:
    """Work under way. Its methods belong to one asyncio loop."""

    def __init__(self, turn: Turn, submit: Callable[[Turn], TurnStream]) -> None:
        """Queue the first part.

        Args:
            turn: A turn with a task, of any length.
            submit: Takes a turn to the engine.

        Raises:
            TurnRefused: The engine takes no turns, or too many wait.
        """
        assert turn.task is not None  # noqa: S101 - it is what makes it such a turn
        parts = parts_of(turn.task)
        self._turns = [replace(turn, task=part, id=new_turn_id()) for part in parts]
        self._joiner = Joiner(parts)
        self._submit = submit
        self._cancelled = False
        self._began_at = time.monotonic()
        self._stream = submit(self._turns[0])

    async def events(self) -> AsyncIterator[Event]:
        """All events of the work, as of one turn; the last is its one ``TurnEnd``."""
        metrics: dict[str, float] = {}
        end = TurnEnd(turn_id=self._turns[0].id, outcome=Outcome.CANCELLED)
        for turn in self._turns:
            async for event in self._part(turn):
                if isinstance(event, TurnEnd):
                    end = event
                    continue
                for told in self._joiner.take(event):
                    yield told
            for told in self._joiner.end_part(end):
                yield told
            metrics = metrics or end.metrics
            if end.outcome not in GOES_ON:
                break
        yield self._end(end, turn, metrics)

    def _end(self, end: TurnEnd, last: Turn, metrics: dict[str, float]) -> TurnEnd:
        """The end of the whole, when the last part that was begun ended so."""
        number, count = self._turns.index(last) + 1, len(self._turns)
        place = f"In part {number} of {count}: " if end.message and count > 1 else ""
        total_s = round(time.monotonic() - self._began_at, 4)
        return replace(
            end,
            outcome=self._joiner.outcome(end.outcome),
            message=place + end.message,
            metrics=metrics | {"total_s": total_s},
        )

    def cancel(self) -> None:
        """Stop the work: of what is still to be done, nothing begins."""
        self._cancelled = True
        self._stream.cancel()

    async def _part(self, turn: Turn) -> AsyncIterator[Event]:
        if turn is not self._turns[0]:
            try:
                self._stream = await self._enter(turn)
            except TurnRefused as refusal:
                yield TurnEnd(
                    turn_id=turn.id,
                    outcome=Outcome.FAILED,
                    message=refusal.message,
                    refusal=refusal.code,
                )
                return
        if self._cancelled:
            self._stream.cancel()
        async for event in self._stream:
            yield event

    async def _enter(self, turn: Turn) -> TurnStream:
        """Queue a later part, which waits for a place: what is half done must not end for that."""
        while True:
            try:
                return self._submit(turn)
            except TurnRefused as refusal:
                if refusal.code != "busy":
                    raise
            await asyncio.sleep(_AGAIN_S)
