"""A turn: all that an engine is told about one thing a person said, typed or showed."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field

from backend.contract.media import AudioClip, VideoFrames
from backend.contract.tasks import TaskRequest
from backend.contract.voice import VoiceSpec


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
        voice_pitch: How much higher than the voice's own, in semitones, -6 to 6.
        voice: Whose voice answers, and how.
        spoken: Whether the reply is spoken too.
        seed: The same seed makes the same take of the same words in the same voice, where the
            engine can; none for another take each time.
        temperature: How freely the voice draws its sound, 0.1 to 2; none for the model's own.
    """

    system_prompt: str = (
        "You are a helpful, friendly assistant who speaks with people. Keep answers short."
    )
    language: str = "auto"
    max_reply_tokens: int = 160
    voice_speed: float = 1.0
    voice_pitch: float = 0.0
    voice: VoiceSpec = field(default_factory=VoiceSpec)
    spoken: bool = True
    seed: int | None = None
    temperature: float | None = None


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
        heard: Words of ``audio`` that ``Engine.hear`` has recognised already; none are to be
            recognised again.
        frames: What was shown, or none.
        script: Words to be spoken exactly as they are. Then nothing is asked, and no reply is
            thought up: only the voice works. Only where ``Capabilities.recites`` says so.
        task: A piece of work beside the conversation. Then nothing else of the turn but its
            settings counts. Only where ``Capabilities.tasks`` has its kind.
        history: Earlier exchanges, oldest first. Silent and failed turns are not in it.
    """

    session_id: str
    generation: int
    text: str = ""
    audio: AudioClip | None = None
    heard: str = ""
    frames: VideoFrames | None = None
    script: str = ""
    task: TaskRequest | None = None
    history: tuple[Exchange, ...] = ()
    settings: TurnSettings = field(default_factory=TurnSettings)
    id: str = field(default_factory=new_turn_id)
