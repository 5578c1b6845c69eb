"""The events of one turn, handed from the engine's loop to whichever loop reads them."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from functools import partial

from backend.contract.events import Event, TurnEnd
from backend.contract.turn import Turn


def _resolve(sleeper: asyncio.Future[None]) -> None:
    if not sleeper.done():
        sleeper.set_result(None)


class EventStream:
    """A bounded queue between two asyncio loops, closed by its one ``TurnEnd``.

    Threading rule: ``put`` and ``finish`` belong to the engine's loop, iteration to one reading
    loop, ``cancel`` to any thread. A lock guards what they share, and neither loop ever blocks:
    a full queue suspends the engine's task, an empty one the reader's.
    """

    def __init__(
        self, turn: Turn, engine_loop: asyncio.AbstractEventLoop, *, capacity: int = 64
    ) -> None:
        """Make an empty stream for ``turn`` that holds at most ``capacity`` unread events."""
        self.turn = turn
        self._engine_loop = engine_loop
        self._capacity = capacity
        self._lock = threading.Lock()
        self._events: deque[Event] = deque()
        self._cancelled = False
        self._finished = False
        self._wake_engine: asyncio.Future[None] | None = None
        self._wake_reader: asyncio.Future[None] | None = None
        self._on_cancel: Callable[[], object] | None = None

    @property
    def cancelled(self) -> bool:
        """True once somebody has asked for the turn to stop."""
        return self._cancelled

    def call_on_cancel(self, stop: Callable[[], object]) -> None:
        """Have ``stop`` called on the engine's loop when the turn is cancelled."""
        if self._cancelled:
            stop()
        else:
            self._on_cancel = stop

    async def put(self, event: Event) -> None:
        """Add an event, waiting while the reader is behind. Dropped once cancelled."""
        while True:
            with self._lock:
                if self._cancelled or self._finished:
                    return
                if len(self._events) < self._capacity:
                    self._events.append(event)
                    self._wake(self._wake_reader)
                    return
                self._wake_engine = self._engine_loop.create_future()
            await self._wake_engine

    def offer(self, event: Event) -> None:
        """Add an event if there is room: a hint that the reader can do without."""
        with self._lock:
            if not (self._cancelled or self._finished) and len(self._events) < self._capacity:
                self._events.append(event)
                self._wake(self._wake_reader)

    def finish(self, end: TurnEnd) -> bool:
        """Close the stream with ``end``; false, and nothing done, when it was closed before."""
        with self._lock:
            if self._finished:
                return False
            self._finished = True
            self._events.append(end)
            self._wake(self._wake_reader)
            return True

    def cancel(self) -> None:
        """Stop the turn: unread events are dropped and only the ``TurnEnd`` still comes."""
        with self._lock:
            if self._cancelled or self._finished:
                return
            self._cancelled = True
            self._events.clear()
            self._wake(self._wake_engine)
        self._call(self._engine_loop, self._stop_work)

    def __aiter__(self) -> AsyncIterator[Event]:
        """All events, the ``TurnEnd`` last."""
        return self._read()

    async def _read(self) -> AsyncIterator[Event]:
        while True:
            with self._lock:
                if self._events:
                    event = self._events.popleft()
                    self._wake(self._wake_engine)
                    waiting = None
                else:
                    waiting = asyncio.get_running_loop().create_future()
                    self._wake_reader = waiting
            if waiting is not None:
                await waiting
                continue
            yield event
            if isinstance(event, TurnEnd):
                return

    def _stop_work(self) -> None:
        stop, self._on_cancel = self._on_cancel, None
        if stop is not None:
            stop()

    def _wake(self, sleeper: asyncio.Future[None] | None) -> None:
        if sleeper is not None:
            self._call(sleeper.get_loop(), partial(_resolve, sleeper))

    @staticmethod
    def _call(loop: asyncio.AbstractEventLoop, action: Callable[[], object]) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(action)
