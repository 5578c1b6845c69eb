"""What a client may choose about its session, in the older and the newer form of the protocol."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from backend.realtime.protocol import WIRE_RATE


class TurnDetection(BaseModel):
    """The app hears by itself when the person has finished, answers, and stops at a word.

    Its thresholds and times are the app's own, whatever is asked for; a client that wants neither
    answers nor interruptions is told that there is no such thing, and better switches it off.
    """

    type: Literal["server_vad", "semantic_vad"]
    create_response: Literal[True] | None = None
    interrupt_response: Literal[True] | None = None


class AudioFormat(BaseModel):
    """PCM16 mono; no other coding is taken or sent. ``rate`` is in hertz."""

    type: Literal["audio/pcm"] = "audio/pcm"
    rate: int = Field(WIRE_RATE, ge=8_000, le=96_000)


class AudioInput(BaseModel):
    """What the newer form of the protocol says about the microphone."""

    format: AudioFormat | None = None
    turn_detection: TurnDetection | None = None


class OutputFormat(BaseModel):
    """PCM16 mono at 24 kHz; there is no other for clients that choose."""

    type: Literal["audio/pcm"] = "audio/pcm"
    rate: Literal[24_000] = 24_000


class AudioOutput(BaseModel):
    """What it says about the replies' sound; the voice is the one chosen in the app."""

    format: OutputFormat | None = None


class AudioConfig(BaseModel):
    """What it says about sound."""

    input: AudioInput = AudioInput()
    output: AudioOutput = AudioOutput()


class OmniConfig(BaseModel):
    """What the protocol has no place for.

    Attributes:
        watch: Whether the assistant may speak up unasked when what it sees changes.
    """

    watch: bool | None = None


class SessionConfig(BaseModel):
    """How the conversation goes on; what is left out stays as it is.

    ``turn_detection`` may lie beside ``instructions`` or under ``audio.input``, as in the older and
    the newer form of the protocol.
    """

    type: Literal["realtime"] = "realtime"
    turn_detection: TurnDetection | None = None
    audio: AudioConfig = AudioConfig()
    instructions: str | None = Field(None, max_length=8000)
    omni: OmniConfig = OmniConfig()

    @property
    def detects_turns(self) -> bool | None:
        """Whether to listen hands-free, or none when nothing is said about it."""
        if "turn_detection" in self.model_fields_set:
            return self.turn_detection is not None
        if "turn_detection" in self.audio.input.model_fields_set:
            return self.audio.input.turn_detection is not None
        return None

    @property
    def input_rate(self) -> int | None:
        """Samples per second of the sound to come, or none when nothing is said about it."""
        given = self.audio.input.format
        return given.rate if given else None
