"""``/v1/audio/voices``: the engine's own voices, and those that people keep."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, File, Form, Response, UploadFile
from pydantic import BaseModel, ConfigDict

from backend.media.limits import MediaLimits
from backend.runtime.engine_thread import EngineThread
from backend.speech_api.checking import Checker
from backend.speech_api.guards import (
    known_capabilities,
    owner_of,
    refuse_larger,
    refuse_other_pages,
)
from backend.speech_api.uploads import KeptPart, cut, read_sample, voice_draft
from backend.voices.clips import as_wav
from backend.voices.library import VoiceLibrary
from backend.voices.voice import Voice

Told = dict[str, object]
Owner = Annotated[str, Depends(owner_of)]
Sample = Annotated[UploadFile | None, File()]
Words = Annotated[str, Form()]
Flag = Annotated[bool, Form()]

_FIELDS_BYTES = 100_000


class VoiceChange(BaseModel):
    """What is to be different about a voice: its name, or whether everybody may use it."""

    model_config = ConfigDict(extra="forbid")

    name: str | None = None
    shared: bool | None = None


def make_voice_router(
    engine: EngineThread, library: VoiceLibrary, limits: MediaLimits
) -> APIRouter:
    """The routes that check, keep, list, change and delete voices.

    Args:
        engine: Has voices of its own, and hears what is said in a clip.
        library: The kept voices.
        limits: Bounds of a clip that is sent in.
    """
    guards = [Depends(refuse_other_pages), Depends(refuse_larger(limits.max_bytes + _FIELDS_BYTES))]
    router = APIRouter(prefix="/v1/audio/voices", dependencies=guards)
    checker = Checker(engine)

    @router.get("")
    async def voices(owner: Owner) -> Told:
        kept = await asyncio.to_thread(library.voices, owner)
        can = known_capabilities(engine).voice
        own = [{"id": name, "name": name, "built_in": True} for name in can.speakers]
        told = [_told(voice, owner) | {"usable": voice.kind in can.modes} for voice in kept]
        return {"voices": [*own, *told]}

    @router.post("/check")
    async def check(
        audio_sample: Annotated[UploadFile, File()],
        ref_text: Words = "",
        x_vector_only_mode: Flag = False,
    ) -> Told:
        clip = await read_sample(audio_sample, limits)
        return await checker.check(clip, ref_text, x_vector_only=x_vector_only_mode)

    @router.post("")
    async def keep(
        owner: Owner,
        name: Words,
        part: Annotated[KeptPart, Depends()],
        audio_sample: Sample = None,
        consent: Words = "",
        ref_text: Words = "",
        x_vector_only_mode: Flag = False,
        instructions: Words = "",
        language: Words = "auto",
        replace: Flag = False,
    ) -> Told:
        draft = voice_draft(
            name, consent, ref_text, instructions, language, x_vector_only=x_vector_only_mode
        )
        clip = cut(await read_sample(audio_sample, limits), part) if audio_sample else None
        kept = await asyncio.to_thread(library.keep, owner, draft, clip, replace=replace)
        return _told(kept, owner)

    @router.patch("/{voice_id}")
    async def change(owner: Owner, voice_id: str, change: VoiceChange) -> Told:
        voice = await asyncio.to_thread(library.voice, owner, voice_id)
        if change.name is not None:
            voice = await asyncio.to_thread(library.rename, owner, voice_id, change.name)
        if change.shared is not None:
            voice = await asyncio.to_thread(library.share, owner, voice_id, shared=change.shared)
        return _told(voice, owner)

    @router.get("/{voice_id}/sample")
    async def sample(owner: Owner, voice_id: str) -> Response:
        voice = await asyncio.to_thread(library.voice, owner, voice_id)
        clip = await asyncio.to_thread(library.clip, voice)
        return Response(as_wav(clip) if clip else b"", media_type="audio/wav")

    @router.delete("/{voice_id}")
    async def delete(owner: Owner, voice_id: str) -> Told:
        await asyncio.to_thread(library.delete, owner, voice_id)
        return {"id": voice_id, "object": "audio.voice", "deleted": True}

    return router


def _told(voice: Voice, owner: str) -> Told:
    return {
        "id": voice.id,
        "object": "audio.voice",
        "name": voice.name,
        "kind": voice.kind,
        "language": voice.language,
        "created_at": int(voice.created_at.timestamp()),
        "built_in": False,
        "own": voice.owner == owner,
        "shared": voice.shared,
    }
