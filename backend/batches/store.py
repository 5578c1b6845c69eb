"""The batches on disk: a folder for each, with what it is in a JSON file beside its sound."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import ValidationError

from backend.batches.batch import Batch, BatchState, ItemState
from backend.batches.limits import BatchLimits
from backend.batches.refusals import BatchRefused, no_such_batch

log = logging.getLogger(__name__)

RESTARTED = "The app was restarted. What is done is kept."

_JSON = "batch.json"


class BatchStore:
    """Keeps, finds and forgets batches.

    What is in memory is true, and the disk follows it; so one process alone may use a directory.
    All methods belong to one asyncio loop, and none but the constructor blocks it.
    """

    def __init__(self, directory: Path, limits: BatchLimits) -> None:
        """Take in what is in ``directory``, which is made when it is not there."""
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self._limits = limits
        self._writing = asyncio.Lock()
        found = (_load(folder) for folder in directory.iterdir() if folder.is_dir())
        self._batches = {batch.id: batch for batch in found if batch}

    def of(self, owner: str) -> list[Batch]:
        """All that are ``owner``'s, newest first."""
        own = (batch for batch in self._batches.values() if batch.owner == owner)
        return sorted(own, key=lambda batch: batch.created_at, reverse=True)

    def batch(self, owner: str, batch_id: str) -> Batch:
        """The batch with this id.

        Raises:
            BatchRefused: ``batch_unknown``, also where it is another person's.
        """
        batch = self._batches.get(batch_id)
        if batch is None or batch.owner != owner:
            raise no_such_batch()
        return batch

    def opened(self, batch_id: str, key: str) -> Batch:
        """The batch with this id and this key.

        Raises:
            BatchRefused: ``batch_unknown``, also where the key does not fit.
        """
        batch = self._batches.get(batch_id)
        if batch is None or batch.key != key:
            raise no_such_batch()
        return batch

    def by_id(self, batch_id: str) -> Batch | None:
        """The batch with this id, whosever it is; none where it was deleted."""
        return self._batches.get(batch_id)

    def folder(self, batch: Batch) -> Path:
        """Where its files are."""
        return self.directory / batch.id

    async def add(self, batch: Batch) -> None:
        """Keep a new batch.

        Raises:
            BatchRefused: ``batches_full``: there are too many already.
        """
        await self.sweep()
        if len(self.of(batch.owner)) >= self._limits.own:
            text = f"You have {self._limits.own} batches already. Delete one first."
            raise BatchRefused("batches_full", text)
        if len(self._batches) >= self._limits.in_all:
            text = "There are too many batches in the app just now. Try again another day."
            raise BatchRefused("batches_full", text)
        self._batches[batch.id] = batch
        await self.save(batch)

    async def save(self, batch: Batch) -> None:
        """Write what a batch is now; nothing where it was deleted meanwhile."""
        batch.changed_at = datetime.now(UTC)
        async with self._writing:
            if batch.id in self._batches:
                data = batch.model_dump_json(indent=1)
                await asyncio.to_thread(_write, self.folder(batch), data)

    async def delete(self, batch: Batch) -> None:
        """Forget a batch and its files."""
        async with self._writing:
            self._batches.pop(batch.id, None)
            await asyncio.to_thread(shutil.rmtree, self.folder(batch), ignore_errors=True)

    async def sweep(self) -> None:
        """Delete what is too old, unless it is being spoken."""
        oldest = datetime.now(UTC) - timedelta(seconds=self._limits.age_s)
        for batch in tuple(self._batches.values()):
            if batch.changed_at < oldest and batch.state is not BatchState.RUNNING:
                await self.delete(batch)


def _write(folder: Path, data: str) -> None:
    folder.mkdir(exist_ok=True)
    fresh = folder / f"{_JSON}.part"
    fresh.write_text(data, encoding="utf-8")
    os.replace(fresh, folder / _JSON)  # noqa: PTH105 - says that it takes the place of the old one


def _load(folder: Path) -> Batch | None:
    try:
        batch = Batch.model_validate_json((folder / _JSON).read_bytes())
    except (OSError, ValidationError) as error:
        log.warning("the batch in %s cannot be read: %s", folder, error)
        return None
    for left_over in folder.glob("*.part"):
        left_over.unlink()
    for item in batch.of(ItemState.DONE):
        if not (folder / item.file).is_file():
            item.state, item.file, item.seconds = ItemState.WAITING, "", 0.0
    if batch.state is BatchState.RUNNING:
        batch.state, batch.stopped_by = BatchState.STOPPED, RESTARTED
    return batch
