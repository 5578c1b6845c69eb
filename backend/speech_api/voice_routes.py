"""``/v1/audio/voices``: the engine's own voices, and those that clients keep."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, File, Form, UploadFile

from backend.contract.errors import TurnRefused
from backend.media.limits import MediaLimits
from backend.runtime.engine_thread import EngineThread
from backend.speech_api.errors import of_refusal
from backend.speech_api.guards import known_capabilities, refuse_larger, refuse_other_pages
from backend.speech_api.request import EVERYBODY
from backend.speech_api.uploads import read_sample, voice_draft
from backend.voices.library import VoiceLibrary
from backend.voices.refusals import VoiceRefused
from backend.voices.voice import Voice

Told = dict[str, object]

_FIELDS_BYTES = 100_000


def make_voice_router(
    engine: EngineThread, library: VoiceLibrary, limits: MediaLimits
) -> APIRouter:
    """The routes that list, keep and delete voices.

    Args:
        engine: Has voices of its own.
        library: The kept voices; clients of the API share one owner.
        limits: Bounds of a clip that is sent in.
    """
    guards = [Depends(refuse_other_pages), Depends(refuse_larger(limits.max_bytes + _FIELDS_BYTES))]
    router = APIRouter(prefix="/v1/audio", dependencies=guards)

    @router.get("/voices")
    async def voices() -> Told:
        kept = await asyncio.to_thread(library.voices, EVERYBODY)
        speakers = known_capabilities(engine).voice.speakers
        own = [{"id": name, "name": name, "built_in": True} for name in speakers]
        return {"voices": [*own, *(_told(voice) for voice in kept)]}

    @router.post("/voices")
    async def keep(
        name: Annotated[str, Form()],
        audio_sample: Annotated[UploadFile | None, File()] = None,
        consent: Annotated[str, Form()] = "",
        ref_text: Annotated[str, Form()] = "",
        x_vector_only_mode: Annotated[bool, Form()] = False,
        instructions: Annotated[str, Form()] = "",
        language: Annotated[str, Form()] = "auto",
    ) -> Told:
        try:
            draft = voice_draft(
                name, consent, ref_text, instructions, language, x_vector_only=x_vector_only_mode
            )
            clip = await read_sample(audio_sample, limits) if audio_sample else None
            return _told(await asyncio.to_thread(library.keep, EVERYBODY, draft, clip))
        except (VoiceRefused, TurnRefused) as refusal:
            raise of_refusal(
                refusal, "audio_sample" if isinstance(refusal, TurnRefused) else None
            ) from refusal

    @router.delete("/voices/{voice_id}")
    async def delete(voice_id: str) -> Told:
        try:
            await asyncio.to_thread(library.delete, EVERYBODY, voice_id)
        except VoiceRefused as refusal:
            raise of_refusal(refusal, "voice_id") from refusal
        return {"id": voice_id, "object": "audio.voice", "deleted": True}

    return router


def _told(voice: Voice) -> Told:
    return {
        "id": voice.id,
        "object": "audio.voice",
        "name": voice.name,
        "kind": voice.kind,
        "language": voice.language,
        "created_at": int(voice.created_at.timestamp()),
        "built_in": False,
    }
