"""What a server speaks texts with, and the requests that it takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from backend.contract.turn import TurnSettings
from backend.contract.voice import VoiceControls
from backend.conversation.plain_text import plain
from backend.engines.omni.checkpoint import STYLE_CHARS, TtsCheckpoint, speaker_name
from backend.engines.omni.voice_fields import as_data_uri, spoken_language

SPEECH_PATH = "/v1/audio/speech"

LANGUAGES = ("zh", "en", "ja", "ko", "de", "fr", "ru", "pt", "es", "it")
"""ISO 639-1 codes of the languages that Qwen3-TTS was trained on, from its model cards."""

_UNSTYLED = "-0.6B-"


@dataclass(frozen=True, slots=True)
class Speech:
    """What a server speaks with.

    Attributes:
        model: Its name, or empty when the server does not tell.
        kind: Which Qwen3-TTS it is: ``Base``, ``CustomVoice`` or ``VoiceDesign``; empty for
            another model, which is asked for no more than OpenAI's API has.
        speakers: Names of its own voices as the server writes them; the first is the default.
    """

    model: str = ""
    kind: str = ""
    speakers: tuple[str, ...] = ()

    def controls(self) -> VoiceControls:
        """What a person may choose."""
        names = tuple(speaker_name(name) for name in self.speakers)
        if not self.kind:
            return VoiceControls(speakers=names, style_chars=STYLE_CHARS, changes_speed=True)
        styled = self.kind != "Base" and _UNSTYLED not in self.model
        checkpoint = TtsCheckpoint(self.model, self.kind, names, LANGUAGES, styled)
        return replace(checkpoint.controls(), takes_token_ids=False)

    def request(self, settings: TurnSettings) -> dict[str, Any]:
        """The body of a request but for its ``input``; the voice has been checked.

        A voice to be copied travels with it and is kept nowhere, so that it takes the place of
        no voice of the server.
        """
        voice = settings.voice
        body: dict[str, Any] = {"response_format": "pcm", "stream_format": "audio"}
        body |= {"model": self.model} if self.model else {}
        body |= {"instructions": plain(voice.style.strip())} if voice.style.strip() else {}
        if self.kind in {"", "CustomVoice"} and self.speakers:
            body["voice"] = self._speaker(voice.speaker)
        if not self.kind:
            return body if settings.voice_speed == 1 else body | {"speed": settings.voice_speed}
        body |= {"stream": True, "task_type": self.kind}
        body["language"] = spoken_language(voice.language)
        if settings.seed is not None:
            body["seed"] = settings.seed
        if settings.temperature is not None:
            body["extra_params"] = {"temperature": settings.temperature}
        if voice.reference_audio is not None:
            body["ref_audio"] = as_data_uri(voice.reference_audio)
            body["x_vector_only_mode"] = voice.x_vector_only
            if not voice.x_vector_only:
                body["ref_text"] = plain(voice.reference_text.strip())
        return body

    def _speaker(self, chosen: str) -> str:
        wanted = speaker_name(chosen)
        own = {speaker_name(name): name for name in self.speakers}
        return own.get(wanted, self.speakers[0])
