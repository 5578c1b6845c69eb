"""A kept voice for a conversation: what the page's "Use in the conversation" asks for."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Header

from backend.conversation.registry import SessionRegistry
from backend.runtime.engine_thread import EngineThread
from backend.speech_api.errors import ApiError
from backend.speech_api.guards import guarded, known_capabilities, owner_of
from backend.speech_api.request import spec_of
from backend.voices.library import VoiceLibrary
from backend.voices.voice import is_usable

Owner = Annotated[str, Depends(owner_of)]
_BODY_BYTES = 1000  # there is none

SessionId = Annotated[str, Header(alias="x-omni-session")]


def make_use_router(
    engine: EngineThread, library: VoiceLibrary, registry: SessionRegistry
) -> APIRouter:
    """The routes that give a conversation a kept voice, and take it away again.

    Args:
        engine: What is to speak with it.
        library: The kept voices.
        registry: Finds the conversation by the id that its page sends.
    """
    router = APIRouter(prefix="/v1/audio/voices", route_class=guarded(_BODY_BYTES))

    @router.put("/{voice_id}/conversation")
    async def use(owner: Owner, session_id: SessionId, voice_id: str) -> dict[str, str]:
        voice = await asyncio.to_thread(library.voice, owner, voice_id)
        if not is_usable(voice, known_capabilities(engine).voice):
            text = f"The engine that runs here cannot speak with {voice.name}."
            raise ApiError(400, text, "voice_mode", "voice_id")
        session = registry.get(session_id)
        session.kept_voice = await asyncio.to_thread(spec_of, voice, library)
        return {"id": voice.id, "name": voice.name}

    @router.delete("/{voice_id}/conversation")
    async def stop_using(session_id: SessionId, voice_id: str) -> dict[str, str]:
        registry.get(session_id).kept_voice = None
        return {"id": voice_id}

    return router
