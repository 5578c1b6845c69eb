"""The events of several parts as the events of one whole."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from backend.contract.events import (
    Captions,
    Cue,
    Event,
    Outcome,
    Reasoning,
    ReplyText,
    Silence,
    SpeechChunk,
    Stage,
    StageProgress,
    StageStarted,
    Transcript,
    TurnEnd,
)
from backend.contract.tasks import TaskRequest, task_kind
from backend.tasks.parts import TRANSCRIBES, size_of

GOES_ON = frozenset({Outcome.ANSWERED, Outcome.SILENT})
"""Ends of a part after which the next one begins."""


class Joiner:
    """Takes the events of one part after the other, and gives those of the whole.

    Text is joined with blanks, captions go on where the part before ended, and progress is that of
    the whole. Captions follow the reply's sound; those of a transcription that is not spoken follow
    the recording. A part that is spoken or transcribed without captions gets one of its own.
    """

    def __init__(self, parts: Sequence[TaskRequest]) -> None:
        """Begin with the first part; ``parts`` are those of one request."""
        self._parts = parts
        self._index = 0
        first = parts[0]
        self._stage = Stage.HEAR if first.clip else Stage.SPEAK
        self._speaks = task_kind(first.task, first.variant).speaks
        self._transcribes = first.task == TRANSCRIBES
        self._sound_s = 0.0
        self._answered = False
        self._written, self._thought, self._heard = _Joined(" "), _Joined("\n\n"), _Joined(" ")
        self._cues: tuple[Cue, ...] = ()
        self._part_cues: tuple[Cue, ...] = ()
        self._silence: Silence | None = None
        self._start_s = 0.0

    def take(self, event: Event) -> list[Event]:
        """What an event of the part means for the whole."""
        if isinstance(event, Silence):
            self._silence = event
            return []
        if isinstance(event, StageStarted) and self._index:
            # A page may take a stage that starts for one of which nothing is done.
            return [event, self._progress(event.turn_id, event.stage, 0.0)]
        return [self._of_whole(event)]

    def _of_whole(self, event: Event) -> Event:
        match event:
            case ReplyText():
                return replace(event, delta=self._written.add(event.delta))
            case Reasoning():
                return replace(event, delta=self._thought.add(event.delta))
            case Transcript():
                self._heard.replace(event.text)
                final = event.final and self._index == len(self._parts) - 1
                return replace(event, text=self._heard.text, final=final)
            case Captions():
                self._part_cues = tuple(_moved(cue, self._start_s) for cue in event.cues)
                return replace(event, cues=self._cues + self._part_cues)
            case StageProgress():
                return self._progress(event.turn_id, event.stage, event.share)
            case SpeechChunk():
                self._sound_s += len(event.pcm) / event.sample_rate
        return event

    def end_part(self, end: TurnEnd) -> list[Event]:
        """What is still to be told when a part has ended; the next event is the next part's."""
        told: list[Event] = []
        if not self._part_cues and (cue := self._own_cue()):
            self._part_cues = (cue,)
            told.append(Captions(turn_id=end.turn_id, cues=self._cues + self._part_cues))
        self._cues += self._part_cues
        self._answered = self._answered or end.outcome is Outcome.ANSWERED
        if self._index < len(self._parts) - 1 and end.outcome in GOES_ON:
            told.append(self._progress(end.turn_id, self._stage, 1.0))
            self._begin_part()
        elif self._silence and not self._answered:
            told.append(self._silence)
        return told

    def outcome(self, last: Outcome) -> Outcome:
        """How the whole ended, when its last part that ran ended so."""
        return Outcome.ANSWERED if last is Outcome.SILENT and self._answered else last

    def _begin_part(self) -> None:
        self._index += 1
        for joined in (self._written, self._thought, self._heard):
            joined.begin_part()
        self._part_cues, self._silence = (), None
        heard = [part.clip.duration_s for part in self._parts[: self._index] if part.clip]
        self._start_s = self._sound_s if self._speaks else sum(heard)

    def _progress(self, turn_id: str, stage: Stage, of_part: float) -> StageProgress:
        sizes = [size_of(part) for part in self._parts]
        done = sum(sizes[: self._index]) + of_part * sizes[self._index]
        return StageProgress(turn_id=turn_id, stage=stage, share=min(1.0, done / sum(sizes)))

    def _own_cue(self) -> Cue | None:
        clip, end_s = self._parts[self._index].clip, self._sound_s
        if not self._speaks:
            end_s = self._start_s + clip.duration_s if clip and self._transcribes else 0.0
        words = self._written.of_part.strip()
        return Cue(self._start_s, end_s, words) if words and end_s > self._start_s else None


class _Joined:
    """Text that grows part by part."""

    def __init__(self, between: str) -> None:
        self._between = between
        self._before = ""
        self.of_part = ""

    @property
    def text(self) -> str:
        return self._before + self.of_part

    def begin_part(self) -> None:
        self._before, self.of_part = self.text, ""

    def add(self, delta: str) -> str:
        """Append to the part; what the whole grows by."""
        gap = "" if self.of_part else self._gap(delta)
        self._before += gap
        self.of_part += delta
        return gap + delta

    def replace(self, text: str) -> None:
        """Make this the text of the part."""
        if not self.of_part:
            self._before += self._gap(text)
        self.of_part = text

    def _gap(self, after: str) -> str:
        """What stands between the parts: nothing in scripts that are written without blanks."""
        before = self._before
        if not before.strip() or not after or before[-1].isspace() or after[0].isspace():
            return ""
        wide = {unicodedata.east_asian_width(sign) for sign in (before[-1], after[0])} & {"W", "F"}
        return "" if wide and self._between == " " else self._between


def _moved(cue: Cue, by_s: float) -> Cue:
    return Cue(cue.start_s + by_s, cue.end_s + by_s, cue.text)
