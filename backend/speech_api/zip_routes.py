"""``/v1/audio/voices/archive``: kept voices leave as one zip, and come back from it."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Depends, File, Form, Query, UploadFile
from fastapi.responses import StreamingResponse

from backend.speech_api.guards import guarded, owner_of
from backend.speech_api.voice_zips import read_zip, zip_of
from backend.voices.library import VoiceLibrary

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
        file = await asyncio.to_thread(zip_of, library, owner, ids)
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
        return await asyncio.to_thread(_read, library, owner, archive, replace=replace)

    return router


def _read(
    library: VoiceLibrary, owner: str, archive: UploadFile, *, replace: bool
) -> dict[str, object]:
    with tempfile.NamedTemporaryFile(suffix=".zip") as file:
        shutil.copyfileobj(archive.file, file)
        file.flush()
        return read_zip(library, owner, Path(file.name), replace=replace)
