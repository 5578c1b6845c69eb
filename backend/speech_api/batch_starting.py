"""What a batch needs before it is spoken: a voice, a format, and a word on what cannot be."""

from __future__ import annotations

import asyncio
from typing import Literal

from pydantic import BaseModel, ConfigDict

from backend.batches.batch import Batch, BatchState, ItemState
from backend.runtime.engine_thread import EngineThread
from backend.speech_api.errors import ApiError
from backend.speech_api.guards import known_capabilities
from backend.speech_api.request import SpeechRequest, turn_for
from backend.voices.library import VoiceLibrary


class BatchStart(BaseModel):
    """How a batch is to be spoken.

    Attributes:
        voice: Name or id of the voice of items that name none; none leaves it as it is.
        response_format: Format of the files to be made; none leaves it as it is.
        leave_out: Whether items that cannot be spoken may be passed over.
        again: Whether items that failed are tried again.
    """

    model_config = ConfigDict(extra="forbid")

    voice: str | None = None
    response_format: Literal["wav", "flac", "mp3"] | None = None
    leave_out: bool = False
    again: bool = False


async def prepare(
    batch: Batch, asked: BatchStart, engine: EngineThread, library: VoiceLibrary
) -> None:
    """Give a batch what it is to be spoken with.

    Raises:
        ApiError: It cannot be spoken so, or nothing in it waits.
        VoiceRefused: The clip of the voice is not there any more.
    """
    left_out = batch.of(ItemState.LEFT_OUT)
    if left_out and not asked.leave_out and batch.state is BatchState.PLANNED:
        text = (
            f"{len(left_out)} of {len(batch.items)} items cannot be spoken. Mend the file, or start"
            " without them."
        )
        raise ApiError(400, text, "items_left_out", "leave_out")
    if not batch.of(ItemState.WAITING) and not (asked.again and batch.of(ItemState.FAILED)):
        raise ApiError(400, "Nothing in this batch waits to be spoken.", "nothing_waits")
    voice, name = batch.voice, batch.voice_name
    if asked.voice is not None:
        voice = name = asked.voice
    if asked.voice is not None and any(not item.voice for item in batch.items):
        name = await asyncio.to_thread(_voice_name, voice, batch.owner, engine, library)
    kind = asked.response_format or batch.kind
    # Only now: another may have started it while the voice was looked up.
    if batch.state is BatchState.RUNNING and (voice, kind) != (batch.voice, batch.kind):
        text = (
            "This batch is being spoken. Stop it first, then start it with another voice or format."
        )
        param = "voice" if voice != batch.voice else "response_format"
        raise ApiError(409, text, "batch_running", param)
    batch.voice, batch.voice_name, batch.kind = voice, name, kind
    if asked.again:
        batch.try_again()


def _voice_name(voice: str, owner: str, engine: EngineThread, library: VoiceLibrary) -> str:
    asked = SpeechRequest(input="a", voice=voice)
    return turn_for(asked, known_capabilities(engine), library, owner)[1]
