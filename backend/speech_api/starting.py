"""From what a client asks to be spoken to speech under way."""

from __future__ import annotations

import asyncio

from backend.runtime.engine_thread import EngineThread
from backend.speech_api.errors import ApiError
from backend.speech_api.guards import known_capabilities
from backend.speech_api.request import SpeechRequest, turn_for
from backend.speech_api.speaking import Spoken
from backend.voices.library import VoiceLibrary


async def start_speaking(
    asked: SpeechRequest, engine: EngineThread, library: VoiceLibrary, owner: str, max_chars: int
) -> Spoken:
    """Queue it; there is no sound yet.

    Args:
        asked: What is to be spoken.
        engine: What speaks.
        library: The kept voices.
        owner: Who asks.
        max_chars: Longest text, in characters.

    Raises:
        ApiError: It is too long, or the engine cannot do it now or at all.
        VoiceRefused: The clip of the voice is not there any more.
    """
    if len(asked.input) > max_chars:
        text = f"The input has {len(asked.input):,} characters; the limit is {max_chars:,}."
        raise ApiError(400, text, "text_too_long", "input")
    can = known_capabilities(engine)
    turn, name = await asyncio.to_thread(turn_for, asked, can, library, owner)
    tags = f"{can.name}, voice {name}"
    return Spoken(turn, engine.submit, asked.response_format, tags)
