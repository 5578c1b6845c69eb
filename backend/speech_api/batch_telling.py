"""A batch as it is told to a page or another client."""

from __future__ import annotations

from backend.batches.batch import Batch, Item, ItemState
from backend.batches.runner import UnderWay

Told = dict[str, object]


def summary(batch: Batch, now: UnderWay | None) -> Told:
    """How far a batch has come.

    Args:
        batch: The batch.
        now: The item that is being spoken, of whatever batch.
    """
    current = now if now and now.batch is batch else None
    return {
        "id": batch.id,
        "object": "audio.batch",
        "title": batch.title,
        "state": batch.state,
        "stopped_by": batch.stopped_by,
        "created_at": int(batch.created_at.timestamp()),
        "voice": batch.voice_name,
        "response_format": batch.kind,
        "items": len(batch.items),
        **{state.value: len(batch.of(state)) for state in ItemState},
        "made_s": round(batch.made_s + (current.made_s if current else 0.0), 2),
        "left_s": batch.left_s,
        "current": _current(current),
        "download_key": batch.key,
    }


def whole(batch: Batch, now: UnderWay | None) -> Told:
    """The same, with its notes and each of its items."""
    return summary(batch, now) | {
        "notes": batch.notes,
        "list": [_item(item) for item in batch.items],
    }


def _current(now: UnderWay | None) -> Told | None:
    if now is None:
        return None
    item = now.item
    return {"number": item.number, "name": item.name or item.text[:60], "made_s": now.made_s}


def _item(item: Item) -> Told:
    return item.model_dump(exclude_defaults=True) | {"state": item.state, "text": item.text}
