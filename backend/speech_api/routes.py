"""``/v1/audio/speech``, as OpenAI's clients know it."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from backend.runtime.engine_thread import EngineThread
from backend.speech_api.bodies import read_body
from backend.speech_api.guards import guarded, owner_of
from backend.speech_api.leaving import while_listening
from backend.speech_api.request import SpeechRequest
from backend.speech_api.starting import start_speaking
from backend.voices.library import VoiceLibrary

_BYTES_PER_CHAR = 12  # as JSON may write one, with room for the rest of the body


def make_speech_router(engine: EngineThread, library: VoiceLibrary, max_chars: int) -> APIRouter:
    """The route that speaks. It raises what ``errors.answer_errors`` answers.

    Args:
        engine: What speaks.
        library: The kept voices.
        max_chars: Longest text, in characters.
    """
    router = APIRouter(prefix="/v1/audio", route_class=guarded(_BYTES_PER_CHAR * max_chars))

    @router.post("/speech")
    async def speech(request: Request) -> StreamingResponse:
        asked = await read_body(request, SpeechRequest)
        spoken = await start_speaking(asked, engine, library, owner_of(request), max_chars)
        try:
            await while_listening(request, spoken.begin())
        except BaseException:
            spoken.cancel()
            raise
        if asked.stream_format == "sse":
            return StreamingResponse(spoken.events(), media_type="text/event-stream")
        return StreamingResponse(spoken.file(), media_type=asked.response_format.media_type)

    return router
