"""Kept voices as one zip, for the routes and the endpoints. All of it blocks."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from backend.speech_api.errors import ApiError
from backend.voices.library import VoiceLibrary
from backend.voices.portable import export_voices, import_voices
from backend.voices.refusals import no_such_voice


def zip_of(library: VoiceLibrary, owner: str, ids: Sequence[str]) -> IO[bytes]:
    """The owner's voices of these ids, or all of them where none are named, as one zip.

    Returns:
        A file without a name, so that it is gone when it is closed, also where a client leaves.

    Raises:
        ApiError: The owner keeps no voices.
        VoiceRefused: One of them is not the owner's.
    """
    own = {voice.id: voice for voice in library.voices(owner) if voice.owner == owner}
    if not own:
        raise ApiError(404, "You keep no voices yet.", "no_voices")
    if not own.keys() >= set(ids):
        raise no_such_voice()
    file = tempfile.TemporaryFile()  # noqa: SIM115 - closed when it has been sent
    export_voices(library, [own[one] for one in ids] or list(own.values()), file)
    return file


def read_zip(library: VoiceLibrary, owner: str, path: Path, *, replace: bool) -> dict[str, object]:
    """Bring the voices of a zip in, and tell of each what became of it.

    Raises:
        VoiceRefused: It is no such zip.
    """
    imported = import_voices(library, owner, path, replace=replace)
    return {
        "kept": [
            {"id": voice.id, "name": voice.name, "name_in_archive": name}
            for name, voice in imported.kept
        ],
        "refused": [
            {"name": name, "code": refusal.code, "message": refusal.message}
            for name, refusal in imported.refused
        ],
    }
