"""How much of a batch is taken in, and how long it is kept."""

from __future__ import annotations

from dataclasses import dataclass

from backend.settings import Settings

ITEM_CHARS = 2_000
"""Longest text of one item, in characters: a conversation may have to wait for one to end."""


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """Bounds that every batch is held to.

    Attributes:
        items: Items of one batch.
        chars: Characters of all its texts.
        own: Batches that one person may have at a time.
        in_all: Batches of everybody.
        age_s: Seconds without a change after which a batch is deleted.
    """

    items: int = 500
    chars: int = 200_000
    own: int = 10
    in_all: int = 100
    age_s: float = 7 * 86_400.0

    @classmethod
    def from_settings(cls, settings: Settings) -> BatchLimits:
        """The limits that the settings give."""
        return cls(
            items=settings.max_batch_items,
            chars=settings.max_batch_chars,
            own=settings.max_own_batches,
            in_all=settings.max_batches,
            age_s=settings.batch_days * 86_400,
        )
