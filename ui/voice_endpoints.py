"""Kept voices as named Gradio endpoints."""

# Without `from __future__ import annotations`: Gradio tells clients the types that it finds here.

import asyncio

import gradio as gr
from pydantic import TypeAdapter

from backend.contract.voice import VoiceMode
from backend.engines.ears import Ears
from backend.media.limits import MediaLimits
from backend.runtime.engine_thread import EngineThread
from backend.speech_api.checking import Checker
from backend.speech_api.guards import owner_of
from backend.speech_api.uploads import KeptPart, cut, read_sample_at, voice_draft
from backend.speech_api.voice_list import list_voices, told_of
from backend.speech_api.voice_routes import VoiceChange, change_voice
from backend.speech_api.voice_zips import read_zip, zip_of
from backend.voices.library import VoiceLibrary
from ui.endpoint import Told, file_to_send, sent_file

_CLIP, _ZIP = "recording.wav", "voices.zip"


class VoiceEndpoints:
    """The same as the routes under ``/v1/audio/voices``."""

    def __init__(
        self, engine: EngineThread, ears: Ears, library: VoiceLibrary, limits: MediaLimits
    ) -> None:
        """Keep voices for an engine; clips within ``limits`` are checked with ``ears``."""
        self._engine = engine
        self._library = library
        self._limits = limits
        self._checker = Checker(engine, ears)

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
        path = sent_file(clip, _CLIP)
        return await self._checker.check_file(path, self._limits, words, x_vector_only=sound_only)

    async def keep_voice(
        self,
        request: gr.Request,
        name: str,
        clip: gr.FileData | None = None,
        words: str = "",
        consent: str = "",
        sound_only: bool = False,
        instructions: str = "",
        language: str = "auto",
        start_s: float = 0.0,
        end_s: float = 0.0,
        replace: bool = False,
        kind: str = "clone",
        speaker: str = "",
    ) -> Told:
        """Keep the voice of a recording, a speaker of the engine, or one made by a description.

        Say in ``consent`` what whoever speaks in the recording agreed to. ``kind`` is ``clone``,
        ``named`` (with ``speaker``) or ``design`` (described by ``instructions``).
        """
        draft = voice_draft(
            name,
            consent,
            words,
            instructions,
            language,
            x_vector_only=sound_only,
            kind=TypeAdapter(VoiceMode).validate_python(kind),
            speaker=speaker,
        )
        part = TypeAdapter(KeptPart).validate_python({"start_s": start_s, "end_s": end_s})
        sample = None
        if clip is not None:
            sample = cut(await read_sample_at(sent_file(clip, _CLIP), self._limits), part)
        owner = owner_of(request)
        kept = await asyncio.to_thread(
            self._library.keep, owner, draft, sample, replace=bool(replace)
        )
        return told_of(kept, owner)

    async def change_voice(
        self,
        request: gr.Request,
        voice_id: str,
        name: str | None = None,
        shared: bool | None = None,
        tags: list[str] | None = None,
    ) -> Told:
        """Rename or tag a kept voice, or let everybody use it; what is not given stays."""
        change = VoiceChange.model_validate({"name": name, "shared": shared, "tags": tags})
        owner = owner_of(request)
        return await asyncio.to_thread(change_voice, self._library, owner, str(voice_id), change)

    async def delete_voice(self, request: gr.Request, voice_id: str) -> Told:
        """Delete a kept voice for good."""
        await asyncio.to_thread(self._library.delete, owner_of(request), str(voice_id))
        return {"id": voice_id, "deleted": True}

    async def export_voices(self, request: gr.Request) -> gr.FileData:
        """All voices that you keep, as one zip."""
        return await asyncio.to_thread(self._packed, owner_of(request))

    async def import_voices(
        self, request: gr.Request, archive: gr.FileData, replace: bool = False
    ) -> Told:
        """Bring in the voices of a zip; ``replace`` those that have the same names."""
        path = sent_file(archive, _ZIP)
        owner = owner_of(request)
        return await asyncio.to_thread(read_zip, self._library, owner, path, replace=bool(replace))

    def _packed(self, owner: str) -> Told:
        with zip_of(self._library, owner, ()) as file:
            file.seek(0)
            return file_to_send(file.read(), _ZIP)
