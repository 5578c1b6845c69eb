"""From blocking stages to the engine's asyncio loop: one thread per stage, stopped by a signal.

The threads are daemons with a queue of their own: those of ``concurrent.futures`` are joined when
the process exits, and a model call that never returns would keep it from exiting.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Any, TypeVar

from backend.contract.errors import EngineFailed
from backend.engines.embedded.stages import StopSignal
from backend.engines.ending import until_done

_log = logging.getLogger(__name__)

T = TypeVar("T")

_CLOSED = "The engine was closed."


class StageThread:
    """One thread for one stage, so that a model never works on two turns at a time.

    All methods are called on the engine's loop, and none of them blocks.
    """

    def __init__(self, name: str) -> None:
        """Start the thread; ``name`` is what it is called in a log or a stack dump."""
        self.name = name
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._open: set[Future[Any]] = set()
        self._stops: set[StopSignal] = set()
        self._closed = False
        self._thread = threading.Thread(target=self._main, name=f"embedded-{name}", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether the thread has not ended."""
        return self._thread.is_alive()

    @property
    def busy(self) -> bool:
        """Whether there is work in the thread, or waiting for it."""
        return bool(self._open)

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Queue work; the future has its result, and cancelling it keeps it from beginning.

        Raises:
            EngineFailed: The thread was closed.
        """
        if self._closed:
            raise EngineFailed(_CLOSED)
        loop = asyncio.get_running_loop()
        future: Future[T] = Future()

        def forget(_: Future[T]) -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self._open.discard, future)

        self._open.add(future)
        future.add_done_callback(forget)
        self._jobs.put(lambda: _carry_out(work, future))
        return future

    async def call(self, work: Callable[[], T]) -> T:
        """The result of short work that cannot be stopped. When cancelled, waits for its end.

        Raises:
            EngineFailed: The thread was closed before the work began, or abandoned in it.
            Exception: Whatever ``work`` raises.
        """
        job = self.submit(work)
        ended = asyncio.wrap_future(job)
        try:
            await asyncio.wait({ended})
        finally:
            job.cancel()  # without effect once it has begun
            await until_done(ended)
        return _result(ended)

    async def stream(self, produce: Callable[[StopSignal], Iterator[T]]) -> AsyncGenerator[T]:
        """Yield what ``produce`` yields in the thread.

        Leaving early, or cancelling, sets the stop signal and then waits until the thread has
        let go of the work: a turn does not end while a model is still stuck in it.

        Raises:
            EngineFailed: The thread was closed before the work ended.
            Exception: Whatever ``produce`` raises, after the items before it.
        """
        loop = asyncio.get_running_loop()
        items: asyncio.Queue[tuple[T] | None] = asyncio.Queue()
        stop = StopSignal()

        def work() -> None:
            if stop.is_set():
                return
            for item in produce(stop):
                if stop.is_set():
                    return
                with suppress(RuntimeError):  # the loop is closed, and nobody reads any more
                    loop.call_soon_threadsafe(items.put_nowait, (item,))

        job = self.submit(work)
        ended = asyncio.wrap_future(job)
        ended.add_done_callback(lambda _: items.put_nowait(None))
        self._stops.add(stop)
        try:
            while (item := await items.get()) is not None:
                yield item[0]
        finally:
            stop.set()
            self._stops.discard(stop)
            job.cancel()
            await until_done(ended)
        _result(ended)
        if self._closed:
            raise EngineFailed(_CLOSED)

    async def answers(self, within_s: float) -> bool:
        """Whether the thread is free, or becomes free soon enough, to do nothing once."""
        job = self.submit(lambda: None)
        await asyncio.wait({asyncio.wrap_future(job)}, timeout=within_s)
        job.cancel()
        return not job.cancelled()

    def close(self, last: Callable[[], None] | None = None) -> None:
        """Stop the work under way, drop what waits, and end the thread after ``last``.

        Args:
            last: Done in the thread when its work has ended, such as freeing its model.
        """
        if self._closed:
            return
        self._closed = True
        for stop in tuple(self._stops):
            stop.set()
        for future in tuple(self._open):
            future.cancel()  # without effect on the work that has begun
        if last is not None:
            self._jobs.put(last)
        self._jobs.put(None)

    def abandon(self) -> None:
        """Let go of whoever waits for a thread that does not end; it may end later."""
        for future in tuple(self._open):
            with suppress(InvalidStateError):
                future.set_exception(EngineFailed(_CLOSED))

    def _main(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except Exception:
                _log.exception("The last work of the thread %s failed", self.name)
            del job  # or what it holds would live until the next one


def _result(ended: asyncio.Future[T]) -> T:
    if ended.cancelled():
        raise EngineFailed(_CLOSED)
    return ended.result()


def _carry_out(work: Callable[[], T], future: Future[T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    with suppress(InvalidStateError):  # the thread was abandoned meanwhile
        try:
            result = work()
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)
