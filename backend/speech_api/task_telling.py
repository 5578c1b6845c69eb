"""The events of a task as a client is told of them."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict, fields

from backend.contract.events import (
    QUEUED,
    Captions,
    Event,
    Notice,
    Reasoning,
    ReplyText,
    Silence,
    SpeechChunk,
    StageProgress,
    StageStarted,
    TaskSent,
    Transcript,
    TurnEnd,
)
from backend.conversation.pcm import to_pcm16

Told = dict[str, object]


def sse(told: Told) -> str:
    """A server-sent event."""
    return f"data: {json.dumps(told, default=asdict)}\n\n"


_NAMES: dict[type[Event], str] = {
    StageStarted: "started",
    StageProgress: "progress",
    TaskSent: "sent",
    Reasoning: "reasoning",
    ReplyText: "text",
    Transcript: "transcript",
    Captions: "captions",
    Notice: "notice",
    TurnEnd: "end",
}
_COMMON = {field.name for field in fields(Event)}


def told_of(event: Event, clip: str | None) -> Told | None:
    """An event as a client is told of it; none for what only the conversation tells.

    Args:
        event: What happened.
        clip: Id of the reply's sound on the shelf, where there is any.
    """
    match event:
        case Notice(code=code, text=text) if code == QUEUED:
            return {"type": "queued", "text": text}
        case Silence(reason=reason):
            return {"type": "notice", "code": "silent", "text": reason}
        case SpeechChunk(pcm=pcm, sample_rate=rate):
            sound = base64.b64encode(to_pcm16(pcm)).decode()
            return {"type": "audio", "pcm": sound, "sample_rate": rate, "clip": clip}
    if type(event) not in _NAMES:
        return None
    own = [field.name for field in fields(event) if field.name not in _COMMON]
    told = {"type": _NAMES[type(event)]} | {name: getattr(event, name) for name in own}
    return told | {"clip": clip} if isinstance(event, TurnEnd) else told
