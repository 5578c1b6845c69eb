"""``/v1/audio/batches``: many texts from a file, spoken one after the other into a zip."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import PurePath
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, FastAPI, File, UploadFile
from fastapi.responses import StreamingResponse

from backend.batches.bundle import zipped
from backend.batches.limits import BatchLimits
from backend.batches.runner import BatchRunner
from backend.batches.sheet import read_sheet
from backend.batches.store import BatchStore
from backend.runtime.engine_thread import EngineThread
from backend.settings import Settings
from backend.speech_api.batch_checking import planned
from backend.speech_api.batch_speaking import ItemSpeaker
from backend.speech_api.batch_starting import BatchStart, prepare
from backend.speech_api.batch_telling import Told, summary, whole
from backend.speech_api.guards import (
    guarded,
    known_capabilities,
    owner_of,
)
from backend.voices.library import VoiceLibrary

Owner = Annotated[str, Depends(owner_of)]

_OTHER_CELLS_BYTES = 2_000_000
_SWEEP_S = 3600.0


def make_batch_router(engine: EngineThread, library: VoiceLibrary, settings: Settings) -> APIRouter:
    """The routes that take in, start, stop, hand out and delete batches, and what speaks them.

    Args:
        engine: What speaks.
        library: The kept voices.
        settings: Where batches are kept, and how large they may be.
    """
    limits = BatchLimits.from_settings(settings)
    store = BatchStore(settings.data_dir / "batches", limits)
    runner = BatchRunner(store, ItemSpeaker(engine, library).speak)
    router = APIRouter(
        prefix="/v1/audio/batches",
        route_class=guarded(4 * limits.chars + _OTHER_CELLS_BYTES),
        lifespan=_working(runner, store),
    )

    @router.post("")
    async def take_in(owner: Owner, file: Annotated[UploadFile, File()]) -> Told:
        can = known_capabilities(engine)
        title = PurePath(file.filename or "").name
        sheet = await asyncio.to_thread(read_sheet, await file.read(), title)
        batch = await asyncio.to_thread(planned, sheet, title, owner, can, library, limits)
        await store.add(batch)
        return whole(batch, None)

    @router.get("")
    async def batches(owner: Owner) -> Told:
        return {"batches": [summary(batch, runner.now) for batch in store.of(owner)]}

    @router.get("/{batch_id}")
    async def batch(owner: Owner, batch_id: str) -> Told:
        return whole(store.batch(owner, batch_id), runner.now)

    @router.post("/{batch_id}/start")
    async def start(owner: Owner, batch_id: str, asked: BatchStart) -> Told:
        batch = store.batch(owner, batch_id)
        await prepare(batch, asked, engine, library)
        await runner.start(batch)
        return whole(batch, runner.now)

    @router.post("/{batch_id}/stop")
    async def stop(owner: Owner, batch_id: str) -> Told:
        batch = store.batch(owner, batch_id)
        await runner.stop(batch)
        return whole(batch, runner.now)

    @router.get("/{batch_id}/zip")
    async def download(owner: Owner, batch_id: str, key: str = "") -> StreamingResponse:
        batch = store.opened(batch_id, key) if key else store.batch(owner, batch_id)
        name = quote(f"{PurePath(batch.title).stem}.zip")
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
        pieces = zipped(batch, store.folder(batch))
        return StreamingResponse(pieces, media_type="application/zip", headers=headers)

    @router.delete("/{batch_id}")
    async def delete(owner: Owner, batch_id: str) -> Told:
        batch = store.batch(owner, batch_id)
        await runner.stop(batch)
        await store.delete(batch)
        return {"id": batch_id, "object": "audio.batch", "deleted": True}

    return router


def _working(
    runner: BatchRunner, store: BatchStore
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        async def sweep() -> None:
            while True:
                await store.sweep()
                await asyncio.sleep(_SWEEP_S)

        # It is left before the engine is closed, so that no item is taken for one that failed.
        work = asyncio.gather(runner.run(), sweep())
        yield
        work.cancel()
        with suppress(asyncio.CancelledError):
            await work

    return lifespan
