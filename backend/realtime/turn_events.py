"""The turns of a conversation in the events of the protocol, for one client."""

from __future__ import annotations

from typing import Any

from backend.contract.events import (
    Notice,
    ReplyText,
    SceneNotes,
    Silence,
    SpeechChunk,
    StageProgress,
    StageStarted,
    StageTiming,
    Transcript,
    TurnEnd,
)
from backend.conversation.record import TurnRecord
from backend.conversation.session import Change, TurnChanged, TurnStarted
from backend.realtime.outgoing import encode_item, encode_record, encode_timing
from backend.realtime.protocol import Message
from backend.realtime.reply_events import ReplyEvents

_RECENT_ITEMS = 64


class TurnEvents:
    """Tells one client of every turn, and keeps the order of the items that it was told of."""

    def __init__(self, *, resample: bool) -> None:
        """Begin; ``resample`` says whether the client gets all sound at 24 kHz."""
        self._resample = resample
        self._items: list[str] = []
        self._reply: ReplyEvents | None = None
        self._reply_of = ""

    def item(self, item_id: str, content: list[Any]) -> list[Message]:
        """The person has written or said something; an answer to it may follow."""
        before = self._items[-1] if self._items else None
        self._items = [*self._items, item_id][-_RECENT_ITEMS:]
        told = {"previous_item_id": before, "item": encode_item(item_id, "user", content)}
        return [{"type": f"conversation.item.{step}", **told} for step in ("added", "done")]

    @property
    def last_item(self) -> str | None:
        """The newest item that the client was told of, if any."""
        return self._items[-1] if self._items else None

    def of(self, change: Change) -> list[Message]:
        """What the client is told of a change in its conversation."""
        if isinstance(change, TurnStarted):
            return self._begin(change.record)
        if isinstance(change, TurnChanged):
            return self._follow(change)
        self._items = []
        return [{"type": "omni.conversation.cleared"}]

    def _begin(self, record: TurnRecord) -> list[Message]:
        turn = {"type": "omni.turn.created", "turn": encode_record(record)}
        known = record.item_id in self._items
        asked = [] if known else self.item(record.item_id, _question(record))
        return [turn, *asked, self._answer(record).created()]

    def _answer(self, record: TurnRecord) -> ReplyEvents:
        """Where the turn's reply is told; a client may come in the middle of it."""
        if self._reply is None or self._reply_of != record.turn.id:
            self._reply = ReplyEvents(record, self.last_item, resample=self._resample)
            self._reply_of = record.turn.id
            self._items.append(record.turn.id)
        return self._reply

    def _follow(self, change: TurnChanged) -> list[Message]:
        event, record = change.event, change.record
        match event:
            case ReplyText(delta=delta):
                return self._answer(record).words(delta)
            case SpeechChunk(sample_rate=rate):
                return self._answer(record).sound(change.pcm16, rate)
            case TurnEnd():
                return self._answer(record).end()
        return [{"response_id": event.turn_id, **_body(change)}]


def _question(record: TurnRecord) -> list[Any]:
    """The parts of what was asked, as the turn begins."""
    turn = record.turn
    text = [{"type": "input_text", "text": turn.text}] if turn.text.strip() else []
    audio = [{"type": "input_audio", "transcript": None}] if turn.audio else []
    return [*text, *audio] or [{"type": "input_image"}]


def _body(change: TurnChanged) -> Message:  # noqa: PLR0911 - a return for each kind of event
    event = change.event
    match event:
        case Transcript():
            return _transcription(change.record, event)
        case Silence(reason=reason):
            return {"type": "response.listen", "reason": reason}
        case StageStarted(stage=stage):
            return {"type": "omni.stage.started", "stage": stage}
        case StageProgress(stage=stage, share=share):
            return {"type": "omni.stage.progress", "stage": stage, "share": round(share, 3)}
        case StageTiming():
            return {"type": "omni.stage.timing", **encode_timing(event)}
        case SceneNotes(text=text):
            return {"type": "omni.scene", "text": text}
        case Notice(code=code, text=text):
            return {"type": "omni.notice", "code": code, "text": text}
        case _:
            raise TypeError(f"no wire form for {type(event).__name__}")


def _transcription(record: TurnRecord, heard: Transcript) -> Message:
    told = {"item_id": record.item_id, "content_index": 0, "transcript": heard.text}
    if not heard.final:
        return {"type": "omni.transcription.updated", **told}
    seconds = round(record.turn.audio.duration_s, 3) if record.turn.audio else 0.0
    usage = {"type": "duration", "seconds": seconds}
    return {"type": "conversation.item.input_audio_transcription.completed", **told, "usage": usage}
