"""Kept voices as one zip file, to take them elsewhere or bring them back."""

from __future__ import annotations

import itertools
import zipfile
from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path
from typing import IO, Annotated

from pydantic import AfterValidator, AwareDatetime, BaseModel, Field, ValidationError

from backend.contract.media import AudioClip
from backend.voices.clips import as_wav, from_wav
from backend.voices.library import MAX_VOICES, VoiceLibrary
from backend.voices.refusals import Part, VoiceRefused
from backend.voices.voice import Voice, VoiceDraft, name_key
from backend.voices.zip_files import ZipError, open_zip, unpack

MANIFEST = "voices.json"

_MAX_MANIFEST_BYTES = 4_000_000
_MAX_CLIP_BYTES = 30_000_000  # ten minutes of what is kept
_MAX_BYTES = 1_000_000_000


class _Entry(BaseModel):
    """One voice of a manifest.

    Attributes:
        voice: What is said of it.
        clip: Name of its file in the zip, or empty.
        consented_at: When consent was given; none in the zips of older versions.
    """

    voice: VoiceDraft
    clip: str = ""
    consented_at: (
        Annotated[AwareDatetime, AfterValidator(lambda moment: moment.astimezone(UTC))] | None
    ) = None


class _Manifest(BaseModel):
    """What a zip of voices holds."""

    version: int = Field(default=1, ge=1, le=1)
    voices: list[_Entry] = Field(max_length=MAX_VOICES)


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of the voices of a zip, in its order.

    Attributes:
        kept: Each that was kept, behind the name that it has in the zip.
        refused: Each that was not, by its name in the zip, and why.
    """

    kept: list[tuple[str, Voice]] = field(default_factory=list)
    refused: list[tuple[str, VoiceRefused]] = field(default_factory=list)


def export_voices(library: VoiceLibrary, voices: Iterable[Voice], file: IO[bytes]) -> None:
    """Write a zip with a manifest and the clips into an open file. Blocks.

    Raises:
        VoiceRefused: ``clip_lost`` or ``clip_damaged``, with the name of the voice.
    """
    entries = []
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for voice in voices:
            if voice.clip and voice.clip not in archive.namelist():
                archive.writestr(voice.clip, _clip_of(library, voice))
            entries.append(_entry_of(voice))
        archive.writestr(MANIFEST, _Manifest(voices=entries).model_dump_json(indent=2))


def import_voices(
    library: VoiceLibrary, owner: str, path: Path, *, replace: bool = False
) -> Imported:
    """Keep what can be kept of a zip. Blocks.

    Args:
        library: Where the voices are kept.
        owner: Who keeps them.
        path: A file that anybody may have made. One clip of it is unpacked at a time.
        replace: Whether a voice takes the place of the owner's of the same name; otherwise it
            gets a number behind its name, as it does where the engine's own voice has the name.

    Raises:
        VoiceRefused: ``zip_unreadable``; then nothing is kept.
    """
    imported = Imported()
    try:
        with open_zip(path) as archive:
            entries = _entries(archive)
            taken = library.taken_names("" if replace else owner)
            for entry in entries:
                name = entry.voice.name
                draft = entry.voice.model_copy(update={"name": _free_name(name, taken)})
                try:
                    clip = _clip_in(archive, entry.clip) if entry.clip else None
                    voice = library.keep(
                        owner, draft, clip, replace=replace, consented_at=entry.consented_at
                    )
                    imported.kept.append((name, voice))
                    taken |= set() if replace else {voice.name_key}
                except VoiceRefused as refusal:
                    imported.refused.append((name, refusal))
    except (ZipError, ValidationError, OverflowError) as error:  # the last of an absurd date
        text = "This is not a zip of voices, or it is damaged."
        raise VoiceRefused("zip_unreadable", text, Part.FILE) from error
    return imported


def _entries(archive: zipfile.ZipFile) -> list[_Entry]:
    """The voices of the manifest, if their clips do not unpack to more than they may."""
    text = unpack(archive, MANIFEST, _MAX_MANIFEST_BYTES)
    entries = _Manifest.model_validate_json(text).voices
    sizes = {member.filename: member.file_size for member in archive.infolist()}
    if sum(sizes.get(entry.clip, 0) for entry in entries) > _MAX_BYTES:
        raise ZipError
    return entries


def _clip_in(archive: zipfile.ZipFile, name: str) -> AudioClip:
    try:
        return from_wav(unpack(archive, name, _MAX_CLIP_BYTES))
    except ZipError as error:
        text = "Its recording is missing in this zip, or damaged."
        raise VoiceRefused("clip_damaged", text, Part.CLIP) from error


def _free_name(name: str, taken: Set[str]) -> str:
    """The name, or the first with a number behind it that is not among these keys."""
    numbered = (f"{name[:58]} ({number})" for number in itertools.count(2))
    names = itertools.chain([name], numbered)
    return next(free for free in names if name_key(free) not in taken)


def _clip_of(library: VoiceLibrary, voice: Voice) -> bytes:
    try:
        clip = library.clip(voice)
    except VoiceRefused as refusal:
        text = f"{voice.name}: {refusal.message}"
        raise VoiceRefused(refusal.code, text, refusal.part) from refusal
    return as_wav(clip) if clip else b""


def _entry_of(voice: Voice) -> _Entry:
    draft = VoiceDraft.model_validate(voice.model_dump(include=set(VoiceDraft.model_fields)))
    return _Entry(voice=draft, clip=voice.clip, consented_at=voice.consented_at)
