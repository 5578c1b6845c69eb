"""Speaking, judging and keeping voices as named Gradio endpoints, for ``gradio_client``."""

# Without `from __future__ import annotations`: Gradio tells clients the types that it finds here.

import asyncio
from typing import Literal

import gradio as gr
from pydantic import TypeAdapter

from backend.engines.ears import Ears
from backend.media.limits import MediaLimits
from backend.runtime.engine_thread import EngineThread
from backend.settings import Settings
from backend.speech_api.guards import owner_of
from backend.speech_api.request import DEFAULT_VOICE, SpeechRequest
from backend.speech_api.starting import start_speaking
from backend.speech_api.whole_file import FileFormat
from backend.voices.library import VoiceLibrary
from ui.endpoint import file_to_send, plainly
from ui.voice_endpoints import VoiceEndpoints

Kind = Literal["mp3", "wav", "flac"]


def add_lab_endpoints(
    engine: EngineThread, ears: Ears, library: VoiceLibrary, settings: Settings
) -> None:
    """Add the endpoints to the Blocks that are being built.

    They are checked and refused by the functions of the routes under ``/v1/audio``. Voices belong
    to all clients, but for one that sends a secret in ``guards.OWNER_HEADER``.
    """
    lab = LabEndpoints(engine, library, settings)
    kept = VoiceEndpoints(engine, ears, library, MediaLimits.from_settings(settings))
    for endpoint in (
        lab.speak,
        kept.voices,
        kept.check_voice,
        kept.keep_voice,
        kept.change_voice,
        kept.delete_voice,
        kept.export_voices,
        kept.import_voices,
    ):
        # The engine has its own line, and says when it is full.
        gr.api(plainly(endpoint), api_name=endpoint.__name__, concurrency_limit=None)


class LabEndpoints:
    """The same as ``POST /v1/audio/speech``, with the whole file as the answer."""

    def __init__(self, engine: EngineThread, library: VoiceLibrary, settings: Settings) -> None:
        """Speak with an engine, in its voices and the kept ones."""
        self._engine = engine
        self._library = library
        self._max_chars = settings.max_script_chars

    async def speak(
        self,
        request: gr.Request,
        text: str,
        voice: str = DEFAULT_VOICE,
        speed: float = 1.0,
        instructions: str = "",
        language: str = "auto",
        seed: int | None = None,
        pitch: float = 0.0,
        format: Kind = "mp3",  # noqa: A002 - what clients call it
        temperature: float | None = None,
    ) -> gr.FileData:
        """Speak a text as it is, in a voice by name or id; the sound comes as one file."""
        asked = SpeechRequest(
            input=text,
            voice=voice,
            speed=speed,
            instructions=instructions,
            language=language,
            seed=seed,
            pitch=pitch,
            temperature=temperature,
        )
        kind = TypeAdapter(FileFormat).validate_python(format)
        owner = owner_of(request)
        spoken = await start_speaking(asked, self._engine, self._library, owner, self._max_chars)
        data = await spoken.whole(kind)
        return await asyncio.to_thread(file_to_send, data, f"speech.{kind}")
