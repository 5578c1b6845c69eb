"""``/v1/audio/voices/archive``: kept voices leave as one zip, and come back from it."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Annotated

from fastapi import APIRouter, Depends, File, Form, Query, UploadFile
from fastapi.responses import StreamingResponse

from backend.speech_api.errors import ApiError
from backend.speech_api.guards import guarded, owner_of
from backend.voices.library import VoiceLibrary
from backend.voices.portable import Imported, export_voices, import_voices
from backend.voices.refusals import no_such_voice
from backend.voices.voice import Voice

Owner = Annotated[str, Depends(owner_of)]

_FIELDS_BYTES = 100_000
_PIECE_BYTES = 2**18


def make_zip_router(library: VoiceLibrary, max_bytes: int) -> APIRouter:
    """The routes that take voices out of the library and bring them in.

    Args:
        library: The kept voices.
        max_bytes: Largest zip that is brought in.
    """
    router = APIRouter(
        prefix="/v1/audio/voices/archive", route_class=guarded(max_bytes + _FIELDS_BYTES)
    )

    @router.get("")
    async def take_out(
        owner: Owner, ids: Annotated[Sequence[str], Query()] = ()
    ) -> StreamingResponse:
        voices = await asyncio.to_thread(_chosen, library, owner, ids)
        file = await asyncio.to_thread(_zip_of, library, voices)
        headers = {
            "Content-Length": str(file.seek(0, os.SEEK_END)),
            "Content-Disposition": 'attachment; filename="voices.zip"',
        }
        file.seek(0)
        pieces = iter(lambda: file.read(_PIECE_BYTES), b"")
        return StreamingResponse(pieces, media_type="application/zip", headers=headers)

    @router.post("")
    async def bring_in(
        owner: Owner,
        archive: Annotated[UploadFile, File()],
        replace: Annotated[bool, Form()] = False,
    ) -> dict[str, object]:
        return _told(await asyncio.to_thread(_read, library, owner, archive, replace=replace))

    return router


def _chosen(library: VoiceLibrary, owner: str, ids: Sequence[str]) -> list[Voice]:
    """The owner's voices of these ids, or all of them where none are named."""
    own = {voice.id: voice for voice in library.voices(owner) if voice.owner == owner}
    if not own:
        raise ApiError(404, "You keep no voices yet.", "no_voices")
    if not own.keys() >= set(ids):
        raise no_such_voice()
    return [own[one] for one in ids] or list(own.values())


def _zip_of(library: VoiceLibrary, voices: list[Voice]) -> IO[bytes]:
    """A file without a name, so that it is gone when it is closed, also where a client leaves."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - closed when it has been sent
    export_voices(library, voices, file)
    return file


def _read(library: VoiceLibrary, owner: str, archive: UploadFile, *, replace: bool) -> Imported:
    with tempfile.NamedTemporaryFile(suffix=".zip") as file:
        shutil.copyfileobj(archive.file, file)
        file.flush()
        return import_voices(library, owner, Path(file.name), replace=replace)


def _told(imported: Imported) -> dict[str, object]:
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
