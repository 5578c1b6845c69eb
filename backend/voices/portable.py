"""Kept voices as one zip file, to take them elsewhere or bring them back."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from backend.contract.media import AudioClip
from backend.voices.clips import as_wav, from_wav
from backend.voices.library import MAX_VOICES, VoiceLibrary
from backend.voices.refusals import Part, VoiceRefused
from backend.voices.voice import Voice, VoiceDraft

MANIFEST = "voices.json"

_MAX_MANIFEST_BYTES = 4_000_000
_MAX_CLIP_BYTES = 30_000_000  # ten minutes of what is kept


class _Entry(BaseModel):
    """One voice of a manifest; ``clip`` is the name of its file in the zip, or empty."""

    voice: VoiceDraft
    clip: str = ""


class _Manifest(BaseModel):
    """What a zip of voices holds."""

    version: int = Field(default=1, ge=1, le=1)
    voices: list[_Entry] = Field(max_length=MAX_VOICES)


def export_voices(library: VoiceLibrary, voices: Iterable[Voice]) -> bytes:
    """A zip with a manifest and the clips.

    Raises:
        VoiceRefused: ``clip_lost`` or ``clip_damaged``.
    """
    entries, file = [], io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for voice in voices:
            clip = library.clip(voice)
            if clip is not None and voice.clip not in archive.namelist():
                archive.writestr(voice.clip, as_wav(clip))
            entries.append(_Entry(voice=_draft_of(voice), clip=voice.clip))
        archive.writestr(MANIFEST, _Manifest(voices=entries).model_dump_json(indent=2))
    return file.getvalue()


def import_voices(library: VoiceLibrary, owner: str, path: Path) -> list[Voice]:
    """Keep all voices of a zip; one whose name is taken gets a number behind it.

    Nothing is kept of a zip that cannot be read.

    Args:
        library: Where they are kept.
        owner: Who keeps them.
        path: A file that anybody may have made.

    Raises:
        VoiceRefused: ``zip_unreadable``, or one of ``VoiceLibrary.keep``.
    """
    found = _read(path)
    for draft, clip in found:
        draft.check(has_clip=clip is not None)
    return [_keep(library, owner, draft, clip) for draft, clip in found]


def _read(path: Path) -> list[tuple[VoiceDraft, AudioClip | None]]:
    try:
        with zipfile.ZipFile(path) as archive:
            text = _member(archive, MANIFEST, _MAX_MANIFEST_BYTES)
            manifest = _Manifest.model_validate_json(text)
            return [
                (entry.voice, from_wav(_member(archive, entry.clip, _MAX_CLIP_BYTES)))
                if entry.clip
                else (entry.voice, None)
                for entry in manifest.voices
            ]
    except (zipfile.BadZipFile, KeyError, OSError, ValidationError, RuntimeError) as error:
        raise _unreadable() from error


def _member(archive: zipfile.ZipFile, name: str, most_bytes: int) -> bytes:
    """A file of the zip; never more than ``most_bytes`` are unpacked, whatever its header says."""
    with archive.open(name) as member:
        data = member.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise _unreadable()
    return data


def _keep(library: VoiceLibrary, owner: str, draft: VoiceDraft, clip: AudioClip | None) -> Voice:
    name, number = draft.name, 1
    while True:
        try:
            return library.keep(owner, draft.model_copy(update={"name": name}), clip)
        except VoiceRefused as refusal:
            if refusal.part is not Part.NAME or number > MAX_VOICES:
                raise
        number += 1
        name = f"{draft.name[:58]} ({number})"


def _draft_of(voice: Voice) -> VoiceDraft:
    return VoiceDraft.model_validate(voice.model_dump(include=set(VoiceDraft.model_fields)))


def _unreadable() -> VoiceRefused:
    text = "This is not a zip of voices, or it is damaged."
    return VoiceRefused("zip_unreadable", text, Part.FILE)
