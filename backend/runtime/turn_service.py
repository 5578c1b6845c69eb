"""Turns on the engine's loop: each waits for its engine, runs on it, and ends once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from backend.contract.engine import Engine
from backend.contract.errors import EngineFailed
from backend.contract.events import QUEUED, Notice, Outcome, TurnEnd
from backend.runtime.fitting import fitted
from backend.runtime.supervisor import Supervisor, in_words
from backend.runtime.turn_runner import Progress, TurnHung, TurnRunner, TurnStalled
from backend.runtime.turn_stream import EventStream

log = logging.getLogger(__name__)


class TurnService:
    """Serves all turns; every method is called on the engine's loop."""

    def __init__(self, supervisor: Supervisor, stall_timeout_s: float, let_end_s: float) -> None:
        """Take what has the engine.

        Args:
            supervisor: Says which engine is in use.
            stall_timeout_s: Seconds without an event after which a turn is stopped.
            let_end_s: Seconds that turns under way may still take when the engine is to go.
        """
        self._supervisor = supervisor
        self._stall_timeout_s = stall_timeout_s
        self._let_end_s = let_end_s
        self._turns: dict[asyncio.Task[Any], EventStream] = {}
        self._waiting: set[EventStream] = set()
        self._asides: set[asyncio.Task[Any]] = set()

    def begin(self, stream: EventStream, ahead: int, submitted_at: float) -> asyncio.Task[None]:
        """Serve a turn in a task of its own, whose end is the turn's.

        Args:
            stream: Takes the turn's events.
            ahead: How many turns have to end before this one can start.
            submitted_at: ``time.monotonic()`` seconds when it was sent.
        """
        task = asyncio.create_task(self._serve(stream, ahead, Progress(submitted_at)))
        self._turns[task] = stream
        self._waiting.add(stream)
        task.add_done_callback(lambda _: self._turns.pop(task))
        return task

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Count the current task among what uses the engine outside any turn."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - only coroutines come here
        self._asides.add(task)
        try:
            yield
        finally:
            self._asides.discard(task)

    async def let_end(self, tell: Callable[[str], None]) -> None:
        """Return when nothing runs on the engine that is to go; what takes too long is ended.

        Turns that wait for an engine are told, and go on waiting.

        Args:
            tell: Told in words if this takes a while.
        """
        for stream in self._waiting:
            self._tell_of_change(stream)
        running = {task for task, stream in self._turns.items() if stream not in self._waiting}
        if busy := running | self._asides:
            tell("What is being answered may end first")
            _, late = await asyncio.wait(busy, timeout=self._let_end_s)
            await _stopped(late & running, f"{self._supervisor.change}, so this was ended.")

    async def close(self) -> None:
        """End all turns as cancelled."""
        await _stopped(set(self._turns))

    async def _serve(self, stream: EventStream, ahead: int, progress: Progress) -> None:
        waiting = asyncio.create_task(self._claim(stream, ahead))
        stream.call_on_cancel(waiting.cancel)
        try:
            engine, slots = await waiting
        except (asyncio.CancelledError, EngineFailed) as reason:
            failed = isinstance(reason, EngineFailed)
            outcome = Outcome.FAILED if failed else Outcome.CANCELLED
            message = f"The engine is not running: {reason}" if failed else ""
            stream.finish(self._end(stream, outcome, progress, message))
            return
        finally:
            self._waiting.discard(stream)
        try:
            stream.finish(await self._run(engine, stream, progress))
        except asyncio.CancelledError as reason:
            message = str(reason)
            outcome = Outcome.FAILED if message else Outcome.CANCELLED
            stream.finish(self._end(stream, outcome, progress, message))
        finally:
            slots.release()

    async def _claim(self, stream: EventStream, ahead: int) -> tuple[Engine, asyncio.Semaphore]:
        supervisor = self._supervisor
        made_for = "" if supervisor.change else supervisor.status.pipeline
        if supervisor.change:
            self._tell_of_change(stream)
        elif ahead:
            _tell(stream, QUEUED, f"Waiting for the engine: {ahead} ahead of you.")
        while True:
            engine = await supervisor.ready()
            slots = supervisor.slots
            await slots.acquire()
            if supervisor.serves(engine):
                break
            slots.release()
        self._waiting.discard(stream)
        if made_for != supervisor.status.pipeline:
            _fit(stream, engine)
        return engine, slots

    async def _run(self, engine: Engine, stream: EventStream, progress: Progress) -> TurnEnd:
        runner = TurnRunner(engine, stream, stall_timeout_s=self._stall_timeout_s)
        try:
            return await runner.run(progress)
        except TurnHung:
            self._supervisor.replace(engine, "Restarting: a turn did not stop")
            message = self._supervisor.change or "The engine hung and is being restarted"
            message = f"{message}. Please try again."
        except TurnStalled:
            await self._supervisor.check(engine, "a stalled turn")
            message = f"Nothing happened for {self._stall_timeout_s:g} seconds, so this was ended."
        except Exception as error:
            log.exception("turn %s failed", stream.turn.id)
            await self._supervisor.check(engine, "a failed turn")
            message = f"This went wrong: {in_words(error)}"
        outcome = Outcome.CANCELLED if stream.cancelled else Outcome.FAILED
        return self._end(stream, outcome, progress, message)

    def _tell_of_change(self, stream: EventStream) -> None:
        _tell(stream, QUEUED, f"{self._supervisor.change}; this waits for it.")

    @staticmethod
    def _end(
        stream: EventStream, outcome: Outcome, progress: Progress, message: str = ""
    ) -> TurnEnd:
        return TurnEnd(
            turn_id=stream.turn.id, outcome=outcome, message=message, metrics=progress.metrics()
        )


def _tell(stream: EventStream, code: str, text: str) -> None:
    stream.offer(Notice(turn_id=stream.turn.id, code=code, text=text))


def _fit(stream: EventStream, engine: Engine) -> None:
    """Have the turn ask for nothing that only the engine before this one had."""
    turn = fitted(stream.turn, engine.capabilities)
    if turn is not stream.turn:
        stream.turn = turn
        text = "The model was changed meanwhile, so this is answered in its own voice and language."
        _tell(stream, "model_changed", text)


async def _stopped(tasks: set[asyncio.Task[Any]], why: str = "") -> None:
    """Cancel tasks, for a reason if there is one, and return when they have ended."""
    for task in tasks:
        task.cancel(why or None)
    if tasks:
        await asyncio.wait(tasks)
