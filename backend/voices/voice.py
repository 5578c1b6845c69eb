"""A kept voice, and what one has to have before it is kept."""

from __future__ import annotations

import re
import unicodedata
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from sqlalchemy import JSON, Column, UniqueConstraint
from sqlmodel import Field as Stored
from sqlmodel import SQLModel

from backend.contract.voice import VoiceControls, VoiceMode
from backend.voices.refusals import Part, VoiceRefused

_LONGEST_NAME = 64

Tag = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=32)]
Tags = Annotated[tuple[Tag, ...], Field(max_length=16)]


class VoiceDraft(BaseModel):
    """What a person says of a voice that is to be kept.

    Attributes:
        name: A label for people; nothing is found by it but what its owner may use.
        kind: Copied, one of a model's own, or described in words.
        language: ISO 639-1 code that it speaks, or ``auto``.
        reference_text: The words spoken in the reference clip; for a copy.
        x_vector_only: Copy the sound of the voice alone; needs no words.
        speaker: Name of a model's own speaker; for ``NAMED``.
        style: How it speaks, or for ``DESIGN`` what voice it is, in words.
        family: Models that it works with, such as ``qwen3-tts``; empty for any.
        consent: What was agreed to by whoever speaks in the clip; a copy needs it.
        tags: Words to find it by.
    """

    model_config = ConfigDict(frozen=True, str_strip_whitespace=True, extra="forbid")

    name: str = Field(min_length=1, max_length=_LONGEST_NAME)
    kind: VoiceMode = VoiceMode.CLONE
    language: str = Field(default="auto", pattern=r"^(auto|[a-z]{2,3})$")
    reference_text: str = Field(default="", max_length=2000)
    x_vector_only: bool = False
    speaker: str = Field(default="", max_length=64)
    style: str = Field(default="", max_length=500)
    family: str = Field(default="", max_length=64)
    consent: str = Field(default="", max_length=500)
    tags: Tags = ()

    def check(self, *, has_clip: bool) -> None:
        """Refuse a voice that could not be spoken with.

        Raises:
            VoiceRefused: ``clip_missing``, ``words_missing``, ``consent_missing``,
                ``speaker_missing`` or ``style_missing``.
        """
        match self.kind:
            case VoiceMode.CLONE:
                self._check_copy(has_clip)
            case VoiceMode.NAMED if not self.speaker:
                raise VoiceRefused("speaker_missing", "Choose a speaker first.", Part.SPEAKER)
            case VoiceMode.DESIGN if not self.style:
                text = "Describe the voice first, such as: an old man, calm and hoarse."
                raise VoiceRefused("style_missing", text, Part.STYLE)

    def _check_copy(self, has_clip: bool) -> None:
        if not has_clip:
            text = "A copied voice needs a recording of it."
            raise VoiceRefused("clip_missing", text, Part.CLIP)
        if not self.reference_text and not self.x_vector_only:
            text = (
                "Write the words that are spoken in the recording, or choose to copy the sound of"
                " the voice only."
            )
            raise VoiceRefused("words_missing", text, Part.WORDS)
        if not self.consent:
            text = "Confirm that whoever speaks in the recording agrees to this."
            raise VoiceRefused("consent_missing", text, Part.CONSENT)


class Voice(SQLModel, table=True):
    """A kept voice. See ``VoiceDraft`` for what is not told here.

    Attributes:
        id: Unguessable, 32 hexadecimal digits. Everything is found by it.
        owner: Who keeps it: the page's session, or the name of whoever is logged in.
        shared: Whether everybody may use it; only its owner changes it.
        name_key: The name as it is compared.
        clip: Name of the reference clip's file, or empty.
        consented_at: When consent was given, in UTC.
        created_at: When it was kept, in UTC.
    """

    __table_args__ = (UniqueConstraint("owner", "name_key"),)

    id: str = Stored(default_factory=lambda: uuid.uuid4().hex, primary_key=True)
    owner: str = Stored(index=True)
    shared: bool = Stored(default=False, index=True)
    name: str
    name_key: str
    kind: VoiceMode
    language: str = "auto"
    clip: str = Stored(default="", index=True)
    reference_text: str = ""
    x_vector_only: bool = False
    speaker: str = ""
    style: str = ""
    family: str = ""
    consent: str = ""
    consented_at: datetime | None = None
    created_at: datetime = Stored(default_factory=lambda: datetime.now(UTC))
    tags: list[str] = Stored(default_factory=list, sa_column=Column(JSON, nullable=False))


def made_of(
    draft: VoiceDraft,
    owner: str,
    clip: str,
    *,
    shared: bool,
    consented_at: datetime | None = None,
) -> Voice:
    """The voice that is kept for a draft.

    Args:
        draft: A draft that has passed its check.
        owner: Who keeps it.
        clip: Name of the reference clip's file, or empty.
        shared: Whether everybody may use it.
        consented_at: When consent was given, in UTC; none for now.
    """
    return Voice(
        **draft.model_dump(exclude={"tags"}),
        owner=owner,
        shared=shared,
        name_key=name_key(draft.name),
        clip=clip,
        consented_at=(consented_at or datetime.now(UTC)) if draft.consent else None,
        tags=list(draft.tags),
    )


def name_key(name: str) -> str:
    """A name as it is compared: without regard to case, width, or how blanks are set."""
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", name)).strip().casefold()


def is_usable(voice: Voice, controls: VoiceControls) -> bool:
    """Whether an engine can speak with a kept voice: of a speaker, it has to have that one."""
    if voice.kind not in controls.modes:
        return False
    if voice.kind is not VoiceMode.NAMED or not controls.speakers:
        return True
    return name_key(voice.speaker) in {name_key(speaker) for speaker in controls.speakers}


def check_name(name: str, reserved: Sequence[str]) -> None:
    """Refuse a name that one of the engine's own voices has, or that is no name.

    Raises:
        VoiceRefused: ``name_reserved``, ``name_empty`` (or too long), or ``name_broken`` where it
            has half a character, which JSON can hold and no file can.
    """
    if not 1 <= len(name.strip()) <= _LONGEST_NAME:
        text = f"Give the voice a name of 1 to {_LONGEST_NAME} letters."
        raise VoiceRefused("name_empty", text, Part.NAME)
    if not name.isascii() and name != name.encode(errors="ignore").decode():
        raise VoiceRefused("name_broken", "This name has half a character in it.", Part.NAME)
    if name_key(name) in {name_key(own) for own in reserved}:
        text = f"The engine has a voice of its own called {name.strip()}. Choose another name."
        raise VoiceRefused("name_reserved", text, Part.NAME)
