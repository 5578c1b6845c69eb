"""Kept voices as one zip file, to take them elsewhere or bring them back."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from pydantic import BaseModel, Field, ValidationError

from backend.contract.media import AudioClip
from backend.voices.clips import as_wav, from_wav
from backend.voices.library import MAX_VOICES, VoiceLibrary
from backend.voices.refusals import Part, VoiceRefused
from backend.voices.voice import Voice, VoiceDraft
from backend.voices.zip_files import ZipError, open_zip, unpack

MANIFEST = "voices.json"

_MAX_MANIFEST_BYTES = 4_000_000
_MAX_CLIP_BYTES = 30_000_000  # ten minutes of what is kept
_MAX_BYTES = 1_000_000_000


class _Entry(BaseModel):
    """One voice of a manifest; ``clip`` is the name of its file in the zip, or empty."""

    voice: VoiceDraft
    clip: str = ""


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
            entries.append(_Entry(voice=_draft_of(voice), clip=voice.clip))
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
            for entry in _entries(archive):
                name = entry.voice.name
                try:
                    clip = _clip_in(archive, entry.clip) if entry.clip else None
                    voice = _keep(library, owner, entry.voice, clip, replace=replace)
                    imported.kept.append((name, voice))
                except VoiceRefused as refusal:
                    imported.refused.append((name, refusal))
    except (ZipError, ValidationError) as error:
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


def _keep(
    library: VoiceLibrary,
    owner: str,
    draft: VoiceDraft,
    clip: AudioClip | None,
    *,
    replace: bool,
) -> Voice:
    name, number = draft.name, 1
    while True:
        try:
            named = draft.model_copy(update={"name": name})
            return library.keep(owner, named, clip, replace=replace)
        except VoiceRefused as refusal:
            if refusal.part is not Part.NAME or number > MAX_VOICES:
                raise
        number += 1
        name = f"{draft.name[:58]} ({number})"


def _clip_of(library: VoiceLibrary, voice: Voice) -> bytes:
    try:
        clip = library.clip(voice)
    except VoiceRefused as refusal:
        text = f"{voice.name}: {refusal.message}"
        raise VoiceRefused(refusal.code, text, refusal.part) from refusal
    return as_wav(clip) if clip else b""


def _draft_of(voice: Voice) -> VoiceDraft:
    return VoiceDraft.model_validate(voice.model_dump(include=set(VoiceDraft.model_fields)))
