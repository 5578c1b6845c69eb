"""``/v1/audio/voices``: the engine's own voices, and those that people keep."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, File, Form, Response, UploadFile
from pydantic import BaseModel, ConfigDict

from backend.contract.voice import VoiceMode
from backend.engines.ears import Ears
from backend.media.limits import MediaLimits
from backend.runtime.engine_thread import EngineThread
from backend.speech_api.checking import Checker
from backend.speech_api.guards import guarded, owner_of
from backend.speech_api.uploads import KeptPart, cut, read_sample, sample_file, voice_draft
from backend.speech_api.voice_list import Told, list_voices, told_of
from backend.voices.clips import as_wav
from backend.voices.library import VoiceLibrary
from backend.voices.voice import Tags

Owner = Annotated[str, Depends(owner_of)]
Sample = Annotated[UploadFile | None, File()]
Words = Annotated[str, Form()]
Flag = Annotated[bool, Form()]

_FIELDS_BYTES = 100_000


class VoiceChange(BaseModel):
    """What is to be different about a voice: its name, its tags, or whether all may use it."""

    model_config = ConfigDict(extra="forbid")

    name: str | None = None
    tags: Tags | None = None
    shared: bool | None = None


def change_voice(library: VoiceLibrary, owner: str, voice_id: str, change: VoiceChange) -> Told:
    """Change a kept voice, and tell what it is now. Blocks.

    Raises:
        VoiceRefused: It is not the owner's, or the name cannot be taken.
    """
    voice = library.change(
        owner, voice_id, name=change.name, tags=change.tags, shared=change.shared
    )
    return told_of(voice, owner)


def make_voice_router(
    engine: EngineThread, ears: Ears, library: VoiceLibrary, limits: MediaLimits
) -> APIRouter:
    """The routes that check, keep, list, change and delete voices.

    Args:
        engine: Has voices of its own.
        ears: Hear what is said in a clip, where they can.
        library: The kept voices.
        limits: Bounds of a clip that is sent in.
    """
    router = APIRouter(
        prefix="/v1/audio/voices", route_class=guarded(limits.max_bytes + _FIELDS_BYTES)
    )
    checker = Checker(engine, ears)

    @router.get("")
    async def voices(owner: Owner) -> Told:
        return {"voices": await asyncio.to_thread(list_voices, engine, library, owner)}

    @router.post("/check")
    async def check(
        audio_sample: Annotated[UploadFile, File()],
        ref_text: Words = "",
        x_vector_only_mode: Flag = False,
    ) -> Told:
        async with sample_file(audio_sample) as path:
            return await checker.check_file(
                path, limits, ref_text, x_vector_only=x_vector_only_mode
            )

    @router.post("")
    async def keep(
        owner: Owner,
        name: Words,
        part: Annotated[KeptPart, Depends()],
        kind: Annotated[VoiceMode, Form()] = VoiceMode.CLONE,
        speaker: Words = "",
        audio_sample: Sample = None,
        consent: Words = "",
        ref_text: Words = "",
        x_vector_only_mode: Flag = False,
        instructions: Words = "",
        language: Words = "auto",
        replace: Flag = False,
    ) -> Told:
        draft = voice_draft(
            name,
            consent,
            ref_text,
            instructions,
            language,
            x_vector_only=x_vector_only_mode,
            kind=kind,
            speaker=speaker,
        )
        clip = cut(await read_sample(audio_sample, limits), part) if audio_sample else None
        kept = await asyncio.to_thread(library.keep, owner, draft, clip, replace=replace)
        return told_of(kept, owner)

    @router.patch("/{voice_id}")
    async def change(owner: Owner, voice_id: str, change: VoiceChange) -> Told:
        return await asyncio.to_thread(change_voice, library, owner, voice_id, change)

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
