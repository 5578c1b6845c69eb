"""The voice lab as named Gradio endpoints, for ``gradio_client`` and other programs."""

# Without `from __future__ import annotations`: Gradio tells clients the types that it finds here.

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from functools import wraps
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar

import gradio as gr
from gradio.utils import get_upload_folder
from gradio_client.utils import is_file_obj_with_meta
from pydantic import TypeAdapter, ValidationError

from backend.contract.errors import TurnRefused
from backend.contract.media import AudioClip
from backend.engines.ears import Ears
from backend.media.limits import MediaLimits
from backend.runtime.engine_thread import EngineThread
from backend.settings import Settings
from backend.speech_api.checking import Checker
from backend.speech_api.errors import ApiError, of_fields
from backend.speech_api.guards import owner_of, refuse_other_pages
from backend.speech_api.request import DEFAULT_VOICE, SpeechRequest
from backend.speech_api.starting import start_speaking
from backend.speech_api.uploads import KeptPart, cut, read_sample_at, voice_draft
from backend.speech_api.voice_list import list_voices, told_of
from backend.speech_api.whole_file import FileFormat
from backend.voices.library import VoiceLibrary
from backend.voices.refusals import VoiceRefused

Kind = Literal["mp3", "wav", "flac"]
Told = dict[str, Any]
P = ParamSpec("P")
R = TypeVar("R")


def add_lab_endpoints(
    engine: EngineThread, ears: Ears, library: VoiceLibrary, settings: Settings
) -> None:
    """Add the endpoints to the Blocks that are being built; see ``LabEndpoints``."""
    lab = LabEndpoints(engine, ears, library, settings)
    for endpoint in (lab.speak, lab.voices, lab.check_voice, lab.keep_voice, lab.delete_voice):
        # The engine has its own line, and says when it is full.
        gr.api(_plainly(endpoint), api_name=endpoint.__name__, concurrency_limit=None)


class LabEndpoints:
    """The same as the routes under ``/v1/audio``: checked and refused by the same functions.

    Voices belong to all clients, but for one that sends a secret in ``guards.OWNER_HEADER``.
    """

    def __init__(
        self, engine: EngineThread, ears: Ears, library: VoiceLibrary, settings: Settings
    ) -> None:
        """Speak with an engine, in its voices and the kept ones, and check clips with ``ears``."""
        self._engine = engine
        self._library = library
        self._max_chars = settings.max_script_chars
        self._limits = MediaLimits.from_settings(settings)
        self._checker = Checker(engine, ears)

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
        )
        kind = TypeAdapter(FileFormat).validate_python(format)
        owner = owner_of(request)
        spoken = await start_speaking(asked, self._engine, self._library, owner, self._max_chars)
        data = await spoken.whole(kind)
        path = await asyncio.to_thread(_new_file, kind)
        await asyncio.to_thread(path.write_bytes, data)
        return gr.FileData(path=str(path), orig_name=path.name).model_dump()

    async def voices(self, request: gr.Request) -> list[Told]:
        """All voices: the engine's own, and the kept ones with their ids."""
        return await asyncio.to_thread(list_voices, self._engine, self._library, owner_of(request))

    async def check_voice(
        self,
        request: gr.Request,  # noqa: ARG002 - that of every endpoint
        clip: gr.FileData,
        words: str = "",
        sound_only: bool = False,
    ) -> Told:
        """Check a recording before a voice is copied from it, with the words spoken in it."""
        sample = await self._sample(clip)
        return await self._checker.check(sample, words, x_vector_only=sound_only)

    async def keep_voice(
        self,
        request: gr.Request,
        name: str,
        clip: gr.FileData,
        words: str = "",
        consent: str = "",
        sound_only: bool = False,
        instructions: str = "",
        language: str = "auto",
        start_s: float = 0.0,
        end_s: float = 0.0,
        replace: bool = False,
    ) -> Told:
        """Keep the voice of a recording. Say in ``consent`` what whoever speaks in it agreed to."""
        draft = voice_draft(name, consent, words, instructions, language, x_vector_only=sound_only)
        part = TypeAdapter(KeptPart).validate_python({"start_s": start_s, "end_s": end_s})
        sample = cut(await self._sample(clip), part)
        owner = owner_of(request)
        kept = await asyncio.to_thread(
            self._library.keep, owner, draft, sample, replace=bool(replace)
        )
        return told_of(kept, owner)

    async def delete_voice(self, request: gr.Request, voice_id: str) -> Told:
        """Delete a kept voice for good."""
        await asyncio.to_thread(self._library.delete, owner_of(request), str(voice_id))
        return {"id": voice_id, "deleted": True}

    async def _sample(self, clip: Told) -> AudioClip:
        """The clip of an upload; Gradio has made sure that what says to be a file is an upload."""
        if not is_file_obj_with_meta(clip):
            text = "Send the recording as a file: handle_file('recording.wav')."
            raise ApiError(400, text, "no_file", "clip")
        return await read_sample_at(Path(clip["path"]), self._limits)


def _new_file(kind: FileFormat) -> Path:
    """A file where Gradio serves it, and sweeps it away with the uploads."""
    Path(get_upload_folder()).mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(dir=get_upload_folder())) / f"speech.{kind}"


def _plainly(endpoint: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
    """The endpoint for our own page and for programs, with what is refused in plain words."""

    @wraps(endpoint)
    async def answer(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            refuse_other_pages(args[0])
            return await endpoint(*args, **kwargs)
        except ValidationError as error:
            raise _told(of_fields(error)) from error
        except (ApiError, TurnRefused, VoiceRefused, ConnectionAbortedError) as error:
            raise _told(error) from error

    return answer


def _told(error: Exception) -> gr.Error:
    return gr.Error(str(error) or "The sound broke off before its end.", print_exception=False)
