"""One person's conversation: its turns, the one under way, and whoever watches it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from backend.contract.engine import TurnStream
from backend.contract.errors import TurnRefused
from backend.contract.events import Event, Outcome
from backend.contract.media import AudioClip, VideoFrames
from backend.contract.turn import Turn, TurnSettings
from backend.contract.voice import VoiceSpec
from backend.conversation.history import exchanges
from backend.conversation.record import TurnRecord
from backend.conversation.recording import Recording

Submit = Callable[[Turn], TurnStream]

MAX_TURNS = 200
"""Turns kept for the page; older ones leave it, and the next prompts, for good."""

MAX_SPEECH_S = 300.0
"""Seconds of spoken replies kept for replay; the oldest go first, so memory stays flat."""


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A new turn joined the conversation."""

    record: TurnRecord


@dataclass(frozen=True, slots=True)
class TurnChanged:
    """An event of the current turn, already taken into its record.

    Attributes:
        record: The event's turn.
        event: What happened.
        pcm16: The very bytes that a speech chunk added to ``record.speech``; else empty.
    """

    record: TurnRecord
    event: Event
    pcm16: bytes


@dataclass(frozen=True, slots=True)
class ConversationCleared:
    """All turns were forgotten."""


Change = TurnStarted | TurnChanged | ConversationCleared
Listener = Callable[[Change], None]


class Session:
    """A conversation with at most one turn under way.

    Every method belongs to one asyncio loop, the web server's.
    """

    def __init__(self, session_id: str, submit: Submit, *, max_recording_s: float = 300.0) -> None:
        """Begin an empty conversation whose turns go to ``submit``."""
        self.id = session_id
        self.recording = Recording(max_recording_s)
        self.settings = TurnSettings()
        """What holds for the questions of a call."""
        self.kept_voice: VoiceSpec | None = None
        """A voice of the library, in place of the one that the settings choose. It stays when the
        conversation is cleared, as the settings do."""
        self.generation = 0
        self.records: list[TurnRecord] = []
        self.listeners: set[Listener] = set()
        self.touched_at = time.monotonic()
        self._submit = submit
        self._stream: TurnStream | None = None
        self._pump: asyncio.Task[None] | None = None

    def ask(
        self,
        *,
        text: str = "",
        audio: AudioClip | None = None,
        heard: str = "",
        frames: VideoFrames | None = None,
        settings: TurnSettings | None = None,
        attachments: tuple[str, ...] = (),
        notices: tuple[str, ...] = (),
        generation: int | None = None,
        item_id: str = "",
        unasked: bool = False,
    ) -> TurnRecord:
        """Start a turn, interrupting the one under way.

        Args:
            text: Typed words, exactly as typed.
            audio: The spoken question.
            heard: Its words, where they were recognised while it was spoken.
            frames: What was shown.
            settings: What the person chose.
            attachments: Words for what came with the question.
            notices: What the person should know about it.
            generation: The session's when Send was pressed; a Stop since then makes it stale.
            unasked: Whether the assistant looks by itself; a silent one leaves no trace.
            item_id: Id under which clients know the question already, if they do.

        Raises:
            TurnRefused: there is nothing in the turn, it was stopped before it began, or the
                engine takes none.
        """
        if generation not in (None, self.generation):
            raise TurnRefused("stopped", "Stopped before it was sent.")
        if not text.strip() and audio is None and frames is None:
            raise TurnRefused("empty_turn", "Type, say or show something first.")
        self.interrupt()
        turn = self.next_turn(heard)
        settings = self._voiced(settings or self.settings)
        turn = replace(turn, text=text, audio=audio, frames=frames, settings=settings)
        stream = self._submit(turn)
        record = TurnRecord(turn, attachments, notices=list(notices), unasked=unasked)
        record.item_id = item_id or record.item_id
        self._stream = stream
        self._keep(record)
        self._tell(TurnStarted(record))
        self._pump = asyncio.create_task(self._follow(stream, record))
        return record

    def next_turn(self, heard: str, frames: VideoFrames | None = None) -> Turn:
        """A turn that says these words at this point of the conversation; it is not started."""
        return Turn(
            session_id=self.id,
            generation=self.generation,
            heard=heard,
            frames=frames,
            history=exchanges(self.records),
            settings=self._voiced(self.settings),
        )

    def _voiced(self, settings: TurnSettings) -> TurnSettings:
        """The same with the kept voice, if there is one, which speaks as the settings say."""
        kept, chosen = self.kept_voice, settings.voice
        if kept is None:
            return settings
        voice = kept.spoken_as(chosen.language, chosen.style)
        return replace(settings, voice=replace(voice, pass_token_ids=chosen.pass_token_ids))

    def interrupt(self, *, by_speech: bool = False) -> None:
        """Stop the turn under way; whatever still comes of it is dropped.

        Args:
            by_speech: Whether it is because the person speaks into the reply.
        """
        self.generation += 1
        self.touched_at = time.monotonic()
        if self._stream is None:
            return
        if by_speech and self.records:
            self.records[-1].cut_by_speech = True
        self._stream.cancel()

    def truncate(self, turn_id: str, heard_s: float) -> TurnRecord | None:
        """Keep of a reply only what was heard of it; none when the turn is not known any more."""
        record = self.find(turn_id)
        if record is not None:
            record.truncate(heard_s)
        return record

    def clear(self) -> None:
        """Stop and forget everything."""
        self.interrupt()
        self.records = []
        self._tell(ConversationCleared())

    @property
    def under_way(self) -> bool:
        """Whether a turn is being worked on."""
        return self._stream is not None

    def find(self, turn_id: str) -> TurnRecord | None:
        """The turn with this id, if it is still kept."""
        return next((record for record in self.records if record.turn.id == turn_id), None)

    async def settled(self) -> None:
        """Return once no turn is under way."""
        if self._pump is not None:
            await asyncio.wait({self._pump})

    async def _follow(self, stream: TurnStream, record: TurnRecord) -> None:
        async for event in stream:
            spoken = len(record.speech)
            record.apply(event)
            if record.outcome is not None and self._stream is stream:
                self._stream = None
            if record.unasked and record.outcome is Outcome.SILENT:
                self.records = [kept for kept in self.records if kept is not record]
            self.touched_at = time.monotonic()
            self._tell(TurnChanged(record, event, bytes(record.speech[spoken:])))

    def _keep(self, record: TurnRecord) -> None:
        self.records = [*self.records, record][-MAX_TURNS:]
        seconds = 0.0
        for old in reversed(self.records[:-1]):
            seconds += old.speech_s
            if seconds > MAX_SPEECH_S:
                old.speech.clear()

    def _tell(self, change: Change) -> None:
        for listener in tuple(self.listeners):
            listener(change)
