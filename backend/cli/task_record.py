"""What comes of one task, and the files that it becomes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from backend.contract.events import (
    QUEUED,
    Captions,
    Cue,
    Event,
    Notice,
    Outcome,
    Reasoning,
    ReplyText,
    Silence,
    SpeechChunk,
    StageTiming,
    TaskSent,
    Transcript,
    TurnEnd,
)
from backend.conversation.pcm import to_pcm16, to_wav
from backend.media.cues import srt

SUFFIXES = (".txt", ".wav", ".srt", ".reasoning.txt")
"""Ends of the names of the files."""


@dataclass(slots=True)
class TaskRecord:
    """One task, as far as it has come; ``speech`` is mono PCM16 at ``sample_rate``."""

    name: str
    sent: TaskSent | None = None
    heard: str = ""
    reasoning: str = ""
    reply: str = ""
    silence: str = ""
    notices: list[str] = field(default_factory=list)
    cues: tuple[Cue, ...] = ()
    timings: dict[str, StageTiming] = field(default_factory=dict)
    speech: bytearray = field(default_factory=bytearray)
    sample_rate: int = 0
    outcome: Outcome = Outcome.FAILED
    message: str = ""
    refused: bool = False
    metrics: dict[str, float] = field(default_factory=dict)

    def apply(self, event: Event) -> None:  # noqa: C901 - a case for each kind of event
        """Take in the next event."""
        match event:
            case TaskSent():
                self.sent = event
            case Transcript():
                self.heard = event.text
            case Reasoning():
                self.reasoning += event.delta
            case ReplyText():
                self.reply += event.delta
            case Silence():
                self.silence = event.reason
            case Notice() if event.code != QUEUED:
                self.notices.append(event.text)
            case Captions():
                self.cues = event.cues
            case StageTiming():
                self.timings[event.stage] = event
            case SpeechChunk():
                self.speech += to_pcm16(event.pcm)
                self.sample_rate = event.sample_rate
            case TurnEnd():
                self.outcome, self.message = event.outcome, event.message
                self.refused, self.metrics = bool(event.refusal), event.metrics

    @property
    def came_to_something(self) -> bool:
        """Whether there is anything to write, be it that there was nothing to reply."""
        ended_well = self.outcome in (Outcome.ANSWERED, Outcome.SILENT)
        return ended_well or bool(self.reply.strip() or self.reasoning.strip() or self.speech)

    def write(self, folder: Path) -> None:
        """Write the reply, and what there is of sound, captions and reasoning."""
        texts = {
            ".txt": self.reply.strip(),
            ".srt": srt(self.cues),
            ".reasoning.txt": self.reasoning.strip(),
        }
        for suffix, text in texts.items():
            if text or suffix == ".txt":
                (folder / f"{self.name}{suffix}").write_text(text, encoding="utf-8")
        if self.speech:
            wav = to_wav(bytes(self.speech), self.sample_rate)
            (folder / f"{self.name}.wav").write_bytes(wav)
