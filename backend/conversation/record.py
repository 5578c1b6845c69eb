"""What is known of one turn: built from its events, shown by the page, kept for replay."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from uuid import uuid4

from backend.contract.events import (
    QUEUED,
    Event,
    Notice,
    Outcome,
    ReplyText,
    SceneNotes,
    Silence,
    SpeechChunk,
    StageStarted,
    StageTiming,
    Transcript,
    TurnEnd,
)
from backend.contract.turn import Turn
from backend.conversation.pcm import to_pcm16

SPOKEN_CHARS_PER_S = 15.0
"""Characters said in a second: 150 words a minute, six characters each, as people converse."""


def new_item_id() -> str:
    """A fresh id for an item of a conversation."""
    return f"item_{uuid4().hex}"


@dataclass(slots=True)
class TurnRecord:
    """One turn of the conversation, as far as it has come.

    Attributes:
        turn: What was asked.
        attachments: Words for what came with it, such as ``Recording, 3.2 s``.
        item_id: The question's id among the items of the conversation; the reply's is the turn's.
        unasked: Whether the assistant looked by itself.
        cut_by_speech: Whether the person stopped the reply by speaking into it.
        outcome: None while the turn is under way.
        speech: The spoken reply so far, mono PCM16 at ``sample_rate``.
    """

    turn: Turn
    attachments: tuple[str, ...] = ()
    item_id: str = field(default_factory=new_item_id)
    unasked: bool = False
    cut_by_speech: bool = False
    created_at: float = field(default_factory=time.time)
    transcript: str = ""
    scene: str = ""
    reply: str = ""
    silence: str = ""
    notices: list[str] = field(default_factory=list)
    stage: str = ""
    timings: dict[str, StageTiming] = field(default_factory=dict)
    outcome: Outcome | None = None
    message: str = ""
    metrics: dict[str, float] = field(default_factory=dict)
    speech: bytearray = field(default_factory=bytearray)
    sample_rate: int = 0

    @property
    def question(self) -> str:
        """What was asked, typed and spoken; a turn with a picture alone has words for it."""
        asked = "\n".join(part for part in (self.turn.text.strip(), self.transcript) if part)
        return asked or ("(showed a picture)" if self.scene or self.unasked else "")

    def apply(self, event: Event) -> None:
        """Take in the turn's next event."""
        match event:
            case StageStarted():
                self.stage = event.stage
            case Transcript():
                self.transcript = event.text
            case SceneNotes():
                self.scene = event.text
            case ReplyText():
                self.reply += event.delta
            case Silence():
                self.silence = event.reason
            case Notice() if event.code != QUEUED:
                self.notices.append(event.text)
            case StageTiming():
                self.timings[event.stage] = event
            case SpeechChunk():
                self.speech += to_pcm16(event.pcm)
                self.sample_rate = event.sample_rate
            case TurnEnd():
                self.outcome = event.outcome
                self.message = event.message
                self.metrics = event.metrics
                # Sound and frames have served; kept, they would fill the memory.
                self.turn = replace(self.turn, audio=None, frames=None, history=())

    def truncate(self, heard_s: float) -> None:
        """Keep the first ``heard_s`` seconds of the reply, its words cut where a word ends."""
        speed = SPOKEN_CHARS_PER_S
        if self.outcome is Outcome.ANSWERED and self.speech_s:
            speed = len(self.reply) / self.speech_s
        shown = max(0, round(heard_s * speed))
        if shown < len(self.reply):
            whole = self.reply[: shown + 1].rstrip().rpartition(" ")[0]
            self.reply = f"{whole} …" if whole else ""

    @property
    def speech_s(self) -> float:
        """Seconds of speech that are kept for replay."""
        return len(self.speech) / 2 / self.sample_rate if self.sample_rate else 0.0
