"""A turn: all that an engine is told about one thing a person said, typed or showed."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]
"""Mono sound, shape ``(N,)``, float32, full scale at ±1."""


@dataclass(frozen=True, slots=True, eq=False)
class AudioClip:
    """Mono sound at a known rate.

    Attributes:
        samples: Shape ``(N,)``, float32, finite, full scale at ±1.
        sample_rate: Samples per second.
    """

    samples: Samples
    sample_rate: int

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return len(self.samples) / self.sample_rate


@dataclass(frozen=True, slots=True, eq=False)
class VideoFrames:
    """Upright pictures with the times at which they were seen.

    Attributes:
        images: Shape ``(T, H, W, 3)``, uint8 RGB, ``T >= 1``.
        times_s: Shape ``(T,)``, float64 seconds from the start of the clip, ascending.
        duration_s: Length of the clip in seconds; 0 for a still picture.
    """

    images: NDArray[np.uint8]
    times_s: NDArray[np.float64]
    duration_s: float


@dataclass(frozen=True, slots=True)
class Exchange:
    """One earlier round of the conversation, as it was really said and heard."""

    user: str
    assistant: str


@dataclass(frozen=True, slots=True)
class TurnSettings:
    """What the person chose for this turn.

    Attributes:
        system_prompt: Instructions to the assistant.
        language: ISO 639-1 code of the speech, or ``auto``.
        max_reply_tokens: Longest reply, in the model's tokens.
        voice_speed: Speech rate relative to the voice's own; 2.0 is twice as fast.
        voice: Name of the voice, or an empty string for the engine's default.
    """

    system_prompt: str = (
        "You are a helpful, friendly assistant who speaks with people. Keep answers short."
    )
    language: str = "auto"
    max_reply_tokens: int = 160
    voice_speed: float = 1.0
    voice: str = ""


def new_turn_id() -> str:
    """A fresh, unguessable turn id of 32 hexadecimal digits."""
    return uuid.uuid4().hex


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """One request to an engine. Holds its own history, so that engines keep no conversation.

    Attributes:
        session_id: The conversation that asks.
        generation: Rises by one with every turn and every interruption of the session;
            work of an older generation is stale.
        text: Typed words, exactly as typed; may be empty when there is sound or a picture.
        audio: The spoken question, or none.
        frames: What was shown, or none.
        history: Earlier exchanges, oldest first. Silent and failed turns are not in it.
    """

    session_id: str
    generation: int
    text: str = ""
    audio: AudioClip | None = None
    frames: VideoFrames | None = None
    history: tuple[Exchange, ...] = ()
    settings: TurnSettings = field(default_factory=TurnSettings)
    id: str = field(default_factory=new_turn_id)
