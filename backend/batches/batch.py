"""A batch and its items: what is to be spoken, and how far it has come."""

from __future__ import annotations

import re
import secrets
import unicodedata
import uuid
from datetime import UTC, datetime
from enum import StrEnum

from pydantic import BaseModel, Field

_SLUG_CHARS = 40


class ItemState(StrEnum):
    """Where an item stands."""

    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    LEFT_OUT = "left_out"
    """It cannot be spoken as it is written; the reason says why."""


class BatchState(StrEnum):
    """Where a batch stands."""

    PLANNED = "planned"
    RUNNING = "running"
    STOPPED = "stopped"
    FINISHED = "finished"


class Item(BaseModel):
    """One text of a batch.

    Attributes:
        number: Its place in the file, from 1.
        line: Number of the line at which it begins.
        name: What the file calls it; may be empty.
        text: The words to speak.
        voice: Name or id of a voice; empty for the batch's.
        speed: Rate relative to the voice's own.
        instructions: How to speak, in words.
        language: ISO 639-1 code, or ``auto``.
        seed: The same seed gives the same take.
        state: Where it stands.
        reason: Why it failed or is left out, in plain words.
        file: Name of its file, once it is done.
        seconds: Length of its sound.
    """

    number: int
    line: int
    text: str
    name: str = ""
    voice: str = ""
    speed: float = 1.0
    instructions: str = ""
    language: str = "auto"
    seed: int | None = None
    state: ItemState = ItemState.WAITING
    reason: str = ""
    file: str = ""
    seconds: float = 0.0

    def file_name(self, kind: str) -> str:
        """A name for its file, such as ``007-good-morning.wav``; no two of a batch are the same.

        Args:
            kind: The file's extension.
        """
        words = unicodedata.normalize("NFKC", self.name or self.text[: 2 * _SLUG_CHARS])
        slug = re.sub(r"[\W_]+", "-", words.casefold()).strip("-")[:_SLUG_CHARS].strip("-")
        return f"{self.number:03}-{slug or 'item'}.{kind}"


class Batch(BaseModel):
    """Texts that are spoken one after the other.

    Attributes:
        id: Unguessable, 32 hexadecimal digits.
        owner: Whose it is.
        key: Opens its zip without the owner's secret: for a link, which can send no header.
        title: Name of the file that it came from.
        notes: What the person should know of how the file was read.
        items: All of them, in their order.
        state: Where it stands.
        stopped_by: Why it stopped where nobody stopped it, in plain words; else empty.
        voice: Name or id of the voice of items that name none.
        voice_name: What that voice is called.
        kind: Format of the files: wav, flac or mp3.
        worked_s: Seconds that the items which are done took to make.
        begun_with: The pipeline that speaks it since it was last started; empty before the first
            item, and after a restart of the app.
        created_at: When the file came in, in UTC.
        changed_at: When anything of it last changed, in UTC.
    """

    id: str = Field(default_factory=lambda: uuid.uuid4().hex)
    owner: str
    key: str = Field(default_factory=lambda: secrets.token_hex(16))
    title: str
    notes: tuple[str, ...] = ()
    items: list[Item]
    state: BatchState = BatchState.PLANNED
    stopped_by: str = ""
    voice: str = "default"
    voice_name: str = "default"
    kind: str = "wav"
    worked_s: float = 0.0
    begun_with: str = Field(default="", exclude=True)
    created_at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    changed_at: datetime = Field(default_factory=lambda: datetime.now(UTC))

    def of(self, state: ItemState) -> list[Item]:
        """The items that stand so."""
        return [item for item in self.items if item.state is state]

    @property
    def next_item(self) -> Item | None:
        """The item that is to be spoken next; none where all are through."""
        return next((item for item in self.items if item.state is ItemState.WAITING), None)

    @property
    def made_s(self) -> float:
        """Seconds of sound that are done."""
        return sum(item.seconds for item in self.items)

    @property
    def left_s(self) -> float | None:
        """Seconds that the rest will take, as fast as it went so far; none before one is done."""
        done = sum(len(item.text) for item in self.of(ItemState.DONE))
        if not done:
            return None
        return self.worked_s / done * sum(len(item.text) for item in self.of(ItemState.WAITING))

    def try_again(self) -> None:
        """Put the items that failed back into the line."""
        for item in self.of(ItemState.FAILED):
            item.state, item.reason = ItemState.WAITING, ""
