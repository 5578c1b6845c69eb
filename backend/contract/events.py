"""What an engine says about a turn, in the order in which it happens."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import StrEnum

from backend.contract.media import Samples


class Stage(StrEnum):
    """The four stages that the page shows: hear, think, speak, sound."""

    HEAR = "hear"
    THINK = "think"
    SPEAK = "speak"
    SOUND = "sound"


class Outcome(StrEnum):
    """How a turn ended."""

    ANSWERED = "answered"
    SILENT = "silent"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened in a turn.

    Attributes:
        turn_id: The turn that it belongs to.
        at: ``time.monotonic()`` seconds when it happened.
    """

    turn_id: str
    at: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, slots=True, kw_only=True)
class StageStarted(Event):
    """A stage began to work on the turn."""

    stage: Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class StageProgress(Event):
    """A stage is still at work, with nothing to show yet: ``share`` of it is done, 0 to 1.

    Engines send one every few seconds of long silent work, so that it is not taken for a stall.
    """

    stage: Stage
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript(Event):
    """What was heard. Each one replaces the one before; the last has ``final`` set."""

    text: str
    final: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneNotes(Event):
    """What the eyes made of the frames, as the words that go into the prompt."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyText(Event):
    """The next piece of the written reply. Never holds a silence marker or part of one."""

    delta: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSent(Event):
    """What a task has become: what the model really gets.

    Attributes:
        prompt: The prompt, with a placeholder where each clip stands.
        clips_s: Lengths of the clips, in the order of their placeholders, in seconds.
        sampling: Sampling parameters that were set, by name.
        tokens: Length of the prompt, clips included, in tokens.
        limit: Most tokens that prompt and reply may have together.
        left_out: How many of the oldest turns are not in it, for want of room.
    """

    prompt: str
    clips_s: tuple[float, ...]
    sampling: dict[str, float]
    tokens: int
    limit: int
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning(Event):
    """The next piece of what the model thinks before it answers. Never part of the history."""

    delta: str


@dataclass(frozen=True, slots=True)
class Cue:
    """Words that are shown together, from ``start_s`` to ``end_s`` of the reply's sound."""

    start_s: float
    end_s: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Captions(Event):
    """The captions of a spoken reply. Each event replaces the one before; the last cue may grow."""

    cues: tuple[Cue, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence(Event):
    """The assistant chose not to reply; ``reason`` says why in plain words."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SpeechChunk(Event):
    """The next piece of the spoken reply.

    Chunks joined are the whole reply: no overlap, no padding between them.

    Attributes:
        pcm: Shape ``(N,)``, float32 mono, full scale at ±1.
        sample_rate: Samples per second; the same for all chunks of a turn.
    """

    pcm: Samples
    sample_rate: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTiming(Event):
    """What a stage took, in seconds. ``first_output_s`` counts from the stage's start."""

    stage: Stage
    queue_s: float
    first_output_s: float
    total_s: float


QUEUED = "queued"
"""Code of the notice that a turn waits for others; true only until its first stage starts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice(Event):
    """Something the person should know although the turn goes on."""

    code: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnd(Event):
    """The last event of every turn. Made by the runtime alone, never by an engine.

    Attributes:
        outcome: How the turn ended.
        message: Plain words for a failed turn, otherwise empty.
        refusal: Code of the ``TurnRefused`` where the engine did not take the turn, else empty.
        metrics: Named seconds, such as ``queued_s``, ``first_sound_s`` and ``total_s``.
    """

    outcome: Outcome
    message: str = ""
    refusal: str = ""
    metrics: dict[str, float] = field(default_factory=dict)
