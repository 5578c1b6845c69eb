"""From blocking stages to the engine's asyncio loop: one thread per stage, stopped by a signal."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from backend.contract.errors import EngineFailed
from backend.engines.embedded.stages import StopSignal

T = TypeVar("T")


class StageThread:
    """One thread for one stage, so that a model never works on two turns at a time."""

    def __init__(self, name: str) -> None:
        """``name`` is what the thread is called in a stack dump."""
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"embedded-{name}")
        self._lock = threading.Lock()
        self._running: set[StopSignal] = set()

    async def call(self, work: Callable[[], T]) -> T:
        """Run short work that cannot be stopped, such as loading, and return its result."""
        return await asyncio.wrap_future(self._executor.submit(work))

    async def stream(self, produce: Callable[[StopSignal], Iterator[T]]) -> AsyncGenerator[T]:
        """Yield what ``produce`` yields in the thread. Leaving early sets its stop signal.

        Raises:
            EngineFailed: The thread was closed before the work began.
            Exception: Whatever ``produce`` raises.
        """
        loop = asyncio.get_running_loop()
        items: asyncio.Queue[T | None] = asyncio.Queue()
        stop = StopSignal()

        def put(item: T | None) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(items.put_nowait, item)

        future = self._submit(produce, stop, put)
        future.add_done_callback(lambda _: put(None))
        try:
            while (item := await items.get()) is not None:
                yield item
            if future.cancelled():
                raise EngineFailed("The engine was closed.")
            await asyncio.wrap_future(future)
        finally:
            stop.set()

    def close(self) -> None:
        """Stop the work under way and end the thread. Blocks until it has ended."""
        with self._lock:
            for stop in self._running:
                stop.set()
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _submit(
        self,
        produce: Callable[[StopSignal], Iterator[T]],
        stop: StopSignal,
        put: Callable[[T], None],
    ) -> Future[None]:
        def work() -> None:
            try:
                if stop.is_set():
                    return
                for item in produce(stop):
                    if stop.is_set():
                        return
                    put(item)
            finally:
                with self._lock:
                    self._running.discard(stop)

        with self._lock:
            self._running.add(stop)
        return self._executor.submit(work)
