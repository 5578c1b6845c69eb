"""A batch as one zip: its files, and a table of what became of each item."""

from __future__ import annotations

import csv
import io
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

from backend.batches.batch import Batch, Item, ItemState
from backend.media.sink import Sink

MANIFEST = "manifest.csv"

_BLOCK_BYTES = 256 * 1024
_COLUMNS = ("number", "name", "text", "voice", "file", "seconds", "error")
_NOT_YET = "Not spoken yet."


def zipped(batch: Batch, folder: Path) -> Iterator[bytes]:
    """The zip of what is done so far, piece by piece, so that a large one starts at once. Blocks.

    Args:
        batch: The batch.
        folder: Where its files are.
    """
    done = [item.file for item in batch.of(ItemState.DONE)]
    sink = Sink()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr(_entry(MANIFEST), _manifest(batch).encode("utf-8-sig"))
        for name in done:
            # Sound hardly gets smaller by packing, so it is stored as it is.
            with (folder / name).open("rb") as file, archive.open(_entry(name), "w") as entry:
                while block := file.read(_BLOCK_BYTES):
                    entry.write(block)
                    yield sink.take()
    yield sink.take()


def _entry(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name, time.localtime()[:6])


def _manifest(batch: Batch) -> str:
    table = io.StringIO(newline="")
    writer = csv.writer(table)
    writer.writerow(_COLUMNS)
    writer.writerows(_line(batch, item) for item in batch.items)
    return table.getvalue()


def _line(batch: Batch, item: Item) -> tuple[object, ...]:
    voice = item.voice or batch.voice_name
    seconds = f"{item.seconds:.2f}" if item.file else ""
    error = _NOT_YET if item.state is ItemState.WAITING else item.reason
    return (item.number, item.name, item.text, voice, item.file, seconds, error)
