"""Speaks batches: one item at a time, each batch in its turn."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from backend.batches.batch import Batch, BatchState, Item, ItemState
from backend.batches.store import BatchStore

log = logging.getLogger(__name__)

Told = Callable[[float], None]
"""Called with the seconds of sound that have been made of an item."""

Speak = Callable[[Batch, Item, Path, Told], Awaitable[None]]
"""Speaks an item into a file. Raises ``ItemFailed`` or ``CannotGoOn``; may be cancelled."""


class ItemFailed(Exception):  # noqa: N818 - reads as the event that it reports
    """This item cannot be spoken; the message says why. The others can."""


class CannotGoOn(Exception):  # noqa: N818 - reads as the event that it reports
    """No item can be spoken just now; the message says why."""


@dataclass
class UnderWay:
    """The item that is being spoken.

    Attributes:
        batch: Its batch.
        item: The item.
        task: What speaks it.
        made_s: Seconds of its sound so far; 0 while it waits for the engine.
    """

    batch: Batch
    item: Item
    task: asyncio.Task[None] | None = None
    made_s: float = 0.0

    def tell(self, made_s: float) -> None:
        """Take in how much there is."""
        self.made_s = made_s


class BatchRunner:
    """Speaks what is started, on the loop of ``run``, to which all methods belong."""

    def __init__(self, store: BatchStore, speak: Speak) -> None:
        """Take the batches from ``store``, and have ``speak`` speak their items."""
        self._store = store
        self._speak = speak
        self._line: deque[str] = deque()
        self._work = asyncio.Event()
        self.now: UnderWay | None = None

    async def start(self, batch: Batch) -> None:
        """Speak what waits in a batch; harmless where it is being spoken."""
        if batch.state is not BatchState.RUNNING:
            batch.begun_with = ""
        batch.state, batch.stopped_by = BatchState.RUNNING, ""
        self._queue(batch)
        await self._store.save(batch)

    async def stop(self, batch: Batch) -> None:
        """Stop a batch where it is; what was made of an item that is not done is thrown away."""
        if batch.state is not BatchState.RUNNING:
            return
        batch.state = BatchState.STOPPED
        if self.now and self.now.batch is batch and self.now.task:
            self.now.task.cancel()
            await asyncio.wait({self.now.task})
        await self._store.save(batch)

    async def run(self) -> None:
        """Speak until cancelled."""
        while True:
            self._work.clear()
            batch = self._store.by_id(self._line.popleft()) if self._line else None
            if batch is not None:
                await self._step(batch)
            elif not self._line:
                await self._work.wait()

    async def _step(self, batch: Batch) -> None:
        try:
            if batch.state is BatchState.RUNNING:
                await self._advance(batch)
        except Exception as error:
            log.exception("batch %s cannot go on", batch.id)
            batch.state, batch.stopped_by = BatchState.STOPPED, f"This went wrong: {error}"

    async def _advance(self, batch: Batch) -> None:
        item = batch.next_item
        if item is None:
            batch.state = BatchState.FINISHED
        else:
            await self._speak_one(batch, item)
            self._queue(batch)
        await self._store.save(batch)

    def _queue(self, batch: Batch) -> None:
        if batch.id not in self._line:
            self._line.append(batch.id)
        self._work.set()

    async def _speak_one(self, batch: Batch, item: Item) -> None:
        name = item.file_name(batch.kind)
        path = self._store.folder(batch) / name
        part = path.with_name(f"{name}.part")
        self.now = UnderWay(batch, item)
        self.now.task = asyncio.create_task(self._made(batch, item, part, self.now.tell))
        began = time.monotonic()
        try:
            await _end_of(self.now.task)
            if not self.now.task.cancelled():
                self.now.task.result()
                part.replace(path)
                batch.worked_s += time.monotonic() - began
                item.state, item.file, item.seconds = ItemState.DONE, name, self.now.made_s
        except ItemFailed as failure:
            item.state, item.reason = ItemState.FAILED, str(failure)
        except CannotGoOn as reason:
            batch.state, batch.stopped_by = BatchState.STOPPED, str(reason)
        finally:
            self.now = None
            part.unlink(missing_ok=True)

    async def _made(self, batch: Batch, item: Item, part: Path, tell: Told) -> None:
        try:
            await self._speak(batch, item, part, tell)
        except (ItemFailed, CannotGoOn):
            raise
        except Exception as error:
            log.exception("item %s of batch %s failed", item.number, batch.id)
            raise ItemFailed(f"This went wrong: {error}") from error


async def _end_of(task: asyncio.Task[None]) -> None:
    """Wait until a task has ended, however; it ends too when this is cancelled."""
    try:
        await asyncio.wait({task})
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
