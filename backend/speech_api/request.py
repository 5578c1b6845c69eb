"""What a client asks to be spoken, and the turn that speaks it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from backend.contract.engine import Capabilities
from backend.contract.turn import Turn, TurnSettings
from backend.contract.voice import VoiceMode, VoiceSpec
from backend.engines.door import MAX_PITCH
from backend.speech_api.errors import ApiError
from backend.speech_api.formats import SpeechFormat
from backend.speech_api.voice_list import find_voice
from backend.voices.library import VoiceLibrary
from backend.voices.voice import Voice, is_usable, name_key

DEFAULT_VOICE = "default"
"""Name of the voice that the engine speaks with where none is chosen."""


class _VoiceById(BaseModel):
    """A kept voice, as OpenAI's API names one."""

    id: str


class SpeechRequest(BaseModel):
    """The body of ``POST /v1/audio/speech``.

    Attributes:
        input: The words to speak.
        model: Taken for the sake of OpenAI's clients; the engine that runs is what speaks.
        voice: Name or id of a voice; see ``GET /v1/audio/voices``.
        instructions: How to speak, in words, where the engine follows them.
        response_format: Format of the file.
        speed: Rate relative to the voice's own; 2.0 is twice as fast.
        pitch: How much higher than the voice's own, in semitones, where the engine can.
        stream_format: ``audio`` sends the file as it is made; ``sse`` sends it in events.
        language: ISO 639-1 code to be spoken, or ``auto``.
        seed: The same seed gives the same take, where the engine can.
        temperature: How freely the voice draws its sound, where the engine can.
    """

    model_config = ConfigDict(extra="forbid")

    input: str = Field(min_length=1)
    model: str = ""
    voice: str | _VoiceById = DEFAULT_VOICE
    instructions: str = ""
    response_format: SpeechFormat = SpeechFormat.MP3
    speed: float = Field(default=1.0, ge=0.25, le=4.0)
    pitch: float = Field(default=0.0, ge=-MAX_PITCH, le=MAX_PITCH)
    stream_format: Literal["audio", "sse"] = "audio"
    language: str = Field(default="auto", pattern=r"^(auto|[a-z]{2,3})$")
    seed: int | None = Field(default=None, ge=0, lt=2**32)
    temperature: float | None = Field(default=None, ge=0.1, le=2.0)


def check_engine(asked: SpeechRequest, capabilities: Capabilities) -> None:
    """Refuse what the engine cannot do, whatever the voice.

    Raises:
        ApiError: It cannot.
    """
    if not capabilities.recites:
        text = "The engine that runs here speaks only the replies that it thinks up itself."
        raise ApiError(400, text, "no_recital")
    if asked.speed != 1.0 and not capabilities.voice.changes_speed:
        text = "The engine that runs here speaks at one speed. Leave speed at 1."
        raise ApiError(400, text, "speed_fixed", "speed")
    if asked.pitch and not capabilities.voice.changes_pitch:
        text = "The engine that runs here speaks at one pitch. Leave pitch at 0."
        raise ApiError(400, text, "pitch_fixed", "pitch")


def turn_for(
    asked: SpeechRequest, capabilities: Capabilities, library: VoiceLibrary, owner: str
) -> tuple[Turn, str]:
    """The turn that speaks what was asked, and what people call its voice. It may read a clip.

    Args:
        asked: What is to be spoken.
        capabilities: What the engine can do.
        library: The kept voices.
        owner: Who asks, and may use the voice.

    Raises:
        ApiError: The engine cannot do it, or there is no such voice.
        VoiceRefused: The clip of the voice is not there any more.
    """
    check_engine(asked, capabilities)
    voice, name = _voice(asked, capabilities, library, owner)
    settings = TurnSettings(
        voice=voice,
        voice_speed=asked.speed,
        voice_pitch=asked.pitch,
        seed=asked.seed,
        temperature=asked.temperature,
        spoken=True,
    )
    turn = Turn(session_id=owner, generation=0, script=asked.input, settings=settings)
    return turn, name


def spec_of(voice: Voice, library: VoiceLibrary) -> VoiceSpec:
    """What an engine is told of a kept voice. Blocks.

    Raises:
        VoiceRefused: Its clip is not there any more.
    """
    return VoiceSpec(
        mode=voice.kind,
        speaker=voice.speaker,
        language=voice.language,
        style=voice.style,
        reference_audio=library.clip(voice),
        reference_text=voice.reference_text,
        x_vector_only=voice.x_vector_only,
    )


def _voice(
    asked: SpeechRequest, capabilities: Capabilities, library: VoiceLibrary, owner: str
) -> tuple[VoiceSpec, str]:
    name = asked.voice if isinstance(asked.voice, str) else asked.voice.id
    own = {name_key(speaker): speaker for speaker in capabilities.voice.speakers}
    if name_key(name) == DEFAULT_VOICE and capabilities.voice.modes == (VoiceMode.CLONE,):
        text = "The engine that runs here speaks only in copied voices. Choose a kept one."
        raise ApiError(400, text, "voice_missing", "voice")
    if name_key(name) == DEFAULT_VOICE or name_key(name) in own:
        speaker = own.get(name_key(name), "")
        spec = VoiceSpec(speaker=speaker, language=asked.language, style=asked.instructions)
        return spec, speaker or DEFAULT_VOICE
    usable = library.voices(owner)
    kept = find_voice(library, owner, name)
    if kept is None:
        known = [*capabilities.voice.speakers, *(one.name for one in usable)]
        text = f"There is no voice called {name[:64]}. Choose from: {', '.join(known[:50])}."
        raise ApiError(400, text, "voice_unknown", "voice")
    if not is_usable(kept, capabilities.voice):
        what = f"of the speaker {kept.speaker}" if kept.kind is VoiceMode.NAMED else kept.kind
        text = f"The engine that runs here cannot speak with {kept.name}: it is a voice {what}."
        raise ApiError(400, text, "voice_mode", "voice")
    return spec_of(kept, library).spoken_as(asked.language, asked.instructions), kept.name
