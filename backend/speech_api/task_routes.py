"""``/v1/tasks``: single pieces of work beside the conversation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from backend.contract.events import Cue
from backend.media.cues import srt, vtt
from backend.media.limits import MediaLimits
from backend.runtime.engine_thread import EngineThread
from backend.settings import Settings
from backend.speech_api.bodies import read_body
from backend.speech_api.guards import EVERYBODY, guarded, owner_of
from backend.speech_api.task_clips import make_clip_router
from backend.speech_api.task_list import Told, told_tasks
from backend.speech_api.task_reply import TaskReply
from backend.speech_api.task_request import TaskBody, check_lengths, history_chars
from backend.speech_api.task_starting import TaskStarter
from backend.tasks.shelf import ClipShelf, ShelfLimits
from backend.voices.library import VoiceLibrary

Owner = Annotated[str, Depends(owner_of)]
Seconds = Annotated[float, Field(ge=0, le=360_000, allow_inf_nan=False)]

_BYTES_PER_CHAR = 12  # as JSON may write one
_SWEEP_S = 300.0


class CaptionFormat(StrEnum):
    """What captions can be written as."""

    SRT = "srt"
    VTT = "vtt"


class CueBody(BaseModel):
    """Words that are shown together; see ``Cue``."""

    start_s: Seconds
    end_s: Seconds
    text: str


class CaptionsBody(BaseModel):
    """The body of ``POST /v1/tasks/captions``."""

    model_config = ConfigDict(extra="forbid")

    cues: list[CueBody]


def make_task_router(engine: EngineThread, library: VoiceLibrary, settings: Settings) -> APIRouter:
    """The routes that tell of tasks and do them, and those of the recordings that they need.

    Args:
        engine: What does them.
        library: The kept voices.
        settings: How much is taken in.
    """
    shelf = ClipShelf(_shelf_limits(settings))
    chars = settings.max_script_chars + history_chars(settings) + settings.max_text_chars
    router = APIRouter(
        prefix="/v1/tasks",
        route_class=guarded(_BYTES_PER_CHAR * chars),
        lifespan=_keeping(shelf),
    )
    starter = TaskStarter(engine, library, shelf)

    @router.get("")
    async def tasks() -> Told:
        return told_tasks(engine)

    @router.post("")
    async def do(owner: Owner, request: Request) -> TaskReply:
        asked = await read_body(request, TaskBody)
        check_lengths(asked, settings)
        return await starter.start(asked, owner)

    @router.post("/captions/{kind}")
    async def captions(kind: CaptionFormat, request: Request) -> Response:
        asked = await read_body(request, CaptionsBody)
        cues = [Cue(cue.start_s, cue.end_s, cue.text) for cue in asked.cues]
        if kind is CaptionFormat.SRT:
            return Response(srt(cues), media_type="application/x-subrip")
        return Response(vtt(cues), media_type="text/vtt")

    whole = APIRouter()
    whole.include_router(router)
    whole.include_router(make_clip_router(shelf, MediaLimits.from_settings(settings)))
    return whole


def _shelf_limits(settings: Settings) -> ShelfLimits:
    """The usual ones, but room for three of the longest recordings that are taken in."""
    return ShelfLimits(
        own_bytes=max(ShelfLimits().own_bytes, round(300_000 * settings.max_audio_s)),
        common_owner=EVERYBODY,
    )


def _keeping(
    shelf: ClipShelf,
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        async def sweep() -> None:
            while True:
                await asyncio.sleep(_SWEEP_S)
                await asyncio.to_thread(shelf.sweep)

        sweeping = asyncio.create_task(sweep())
        yield
        sweeping.cancel()
        shelf.close()

    return lifespan
