"""The wire: OpenAI Realtime event names, with ``omni.*`` for what that protocol lacks.

Every message is a JSON object with a ``type``. A turn's id is its response id, and its user
item's id too. Sound is base64 PCM16 mono at the ``sample_rate`` that rides on each piece.
"""

from __future__ import annotations

import base64
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, TypeAdapter

from backend.contract.engine import EngineStatus
from backend.contract.events import (
    Notice,
    Outcome,
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

Message = dict[str, Any]

MAX_APPEND_CHARS = 1_000_000
"""Longest piece of recorded sound in one message, in base64 characters: seconds, not minutes."""

MAX_FRAME_CHARS = 700_000
"""Largest picture in one message, in base64 characters: 0.5 MB of JPEG."""

STATUS = {
    Outcome.ANSWERED: "completed",
    Outcome.SILENT: "completed",
    Outcome.CANCELLED: "cancelled",
    Outcome.FAILED: "failed",
}


def _pcm16(text: object) -> bytes:
    if not isinstance(text, str) or len(text) > MAX_APPEND_CHARS:
        raise ValueError("audio must be a base64 string of at most a few seconds")
    pcm16 = base64.b64decode(text, validate=True)
    if len(pcm16) % 2:
        raise ValueError("audio must hold whole 16-bit samples")
    return pcm16


def _jpeg(text: object) -> bytes:
    if not isinstance(text, str) or len(text) > MAX_FRAME_CHARS:
        raise ValueError("a frame must be a base64 string of at most 0.5 MB of JPEG")
    return base64.b64decode(text, validate=True)


class TurnDetection(BaseModel):
    """The app hears by itself when the person has finished."""

    type: Literal["server_vad", "semantic_vad"]


class AudioInput(BaseModel):
    """What the newer form of the protocol says about the microphone."""

    turn_detection: TurnDetection | None = None


class AudioConfig(BaseModel):
    """What the newer form of the protocol says about sound."""

    input: AudioInput = AudioInput()


class SessionConfig(BaseModel):
    """How the conversation goes on; what is left out stays as it is.

    ``turn_detection`` may lie beside ``instructions`` or under ``audio.input``, as in the older and
    the newer form of the protocol.
    """

    turn_detection: TurnDetection | None = None
    audio: AudioConfig = AudioConfig()
    instructions: str | None = Field(None, max_length=8000)

    @property
    def detects_turns(self) -> bool | None:
        """Whether to listen hands-free, or none when nothing is said about it."""
        if "turn_detection" in self.model_fields_set:
            return self.turn_detection is not None
        if "turn_detection" in self.audio.input.model_fields_set:
            return self.audio.input.turn_detection is not None
        return None


class SessionUpdate(BaseModel):
    """Change how the conversation goes on."""

    type: Literal["session.update"]
    session: SessionConfig


class ResponseCreate(BaseModel):
    """Answer what was recorded and written since the last answer."""

    type: Literal["response.create"]


class TextPart(BaseModel):
    """Written words of an item."""

    type: Literal["input_text"]
    text: str = Field(max_length=8000)


class UserItem(BaseModel):
    """What the person has written."""

    type: Literal["message"]
    role: Literal["user"]
    content: list[TextPart] = Field(min_length=1, max_length=16)


class ItemCreate(BaseModel):
    """Add to what the next answer is for."""

    type: Literal["conversation.item.create"]
    item: UserItem


class ItemTruncate(BaseModel):
    """Of this reply only so much was heard."""

    type: Literal["conversation.item.truncate"]
    item_id: str = Field(max_length=64)
    audio_end_ms: int = Field(ge=0, le=3_600_000)


class PlaybackReport(BaseModel):
    """What of a reply the player has played."""

    type: Literal["omni.playback"]
    response_id: str = Field(max_length=64)
    playing: bool
    played_ms: int = Field(ge=0, le=3_600_000)


class ResponseCancel(BaseModel):
    """Stop the turn under way."""

    type: Literal["response.cancel"]


class AudioAppend(BaseModel):
    """More of what the microphone hears, base64 PCM16 mono, and of what the camera sees."""

    type: Literal["input_audio_buffer.append"]
    audio: Annotated[bytes, BeforeValidator(_pcm16)]
    sample_rate: int = Field(24_000, ge=8_000, le=96_000)
    video_frames: list[Annotated[bytes, BeforeValidator(_jpeg)]] = Field([], max_length=4)


class AudioCommit(BaseModel):
    """The recording is complete; Send may take it."""

    type: Literal["input_audio_buffer.commit"]


class AudioClear(BaseModel):
    """Forget the recording."""

    type: Literal["input_audio_buffer.clear"]


class Clear(BaseModel):
    """Begin a new conversation."""

    type: Literal["omni.conversation.clear"]


class Rebuild(BaseModel):
    """Load the engine again after it has failed."""

    type: Literal["omni.engine.rebuild"]


ClientMessage = Annotated[
    SessionUpdate
    | AudioAppend
    | AudioCommit
    | AudioClear
    | ItemCreate
    | ItemTruncate
    | ResponseCreate
    | ResponseCancel
    | PlaybackReport
    | Clear
    | Rebuild,
    Field(discriminator="type"),
]
client_message: TypeAdapter[ClientMessage] = TypeAdapter(ClientMessage)


def encode_change(change: Change) -> Message:
    """What a page is told of a change in its conversation."""
    if isinstance(change, TurnStarted):
        return {"type": "conversation.item.created", "turn": encode_record(change.record)}
    if isinstance(change, TurnChanged):
        return {"response_id": change.event.turn_id, **_body(change)}
    return {"type": "omni.conversation.cleared"}


def encode_record(record: TurnRecord) -> Message:
    """A whole turn as far as it has come, for a page that shows it for the first time."""
    return {
        "id": record.turn.id,
        "created_at": record.created_at,
        "text": record.turn.text,
        "attachments": record.attachments,
        "transcript": record.transcript,
        "scene": record.scene,
        "reply": record.reply,
        "silence": record.silence,
        "notices": record.notices,
        "stage": record.stage,
        "timings": [_timing(timing) for timing in record.timings.values()],
        "outcome": record.outcome,
        "message": record.message,
        "metrics": record.metrics,
        "has_sound": bool(record.speech),
    }


def _body(change: TurnChanged) -> Message:  # noqa: C901, PLR0911 - a return for each kind of event
    event = change.event
    match event:
        case Transcript(text=text, final=final):
            kind = "completed" if final else "updated"
            name = f"conversation.item.input_audio_transcription.{kind}"
            return {"type": name, "item_id": event.turn_id, "transcript": text}
        case ReplyText(delta=delta):
            return {"type": "response.output_audio_transcript.delta", "delta": delta}
        case SpeechChunk(sample_rate=rate):
            sound = base64.b64encode(change.pcm16).decode("ascii")
            return {"type": "response.output_audio.delta", "delta": sound, "sample_rate": rate}
        case Silence(reason=reason):
            return {"type": "response.listen", "reason": reason}
        case StageStarted(stage=stage):
            return {"type": "omni.stage.started", "stage": stage}
        case StageProgress(stage=stage, share=share):
            return {"type": "omni.stage.progress", "stage": stage, "share": round(share, 3)}
        case StageTiming():
            return {"type": "omni.stage.timing", **_timing(event)}
        case SceneNotes(text=text):
            return {"type": "omni.scene", "text": text}
        case Notice(code=code, text=text):
            return {"type": "omni.notice", "code": code, "text": text}
        case TurnEnd(outcome=outcome, message=message, metrics=metrics):
            response = {"id": event.turn_id, "status": STATUS[outcome]}
            return {
                "type": "response.done",
                "response": response,
                "outcome": outcome,
                "message": message,
                "metrics": metrics,
            }
        case _:
            raise TypeError(f"no wire form for {type(event).__name__}")


def encode_status(status: EngineStatus) -> Message:
    """The engine's state."""
    known = status.capabilities
    return {
        "type": "omni.engine",
        "state": status.state,
        "message": status.message,
        "progress": round(status.progress, 3),
        "name": known.name if known else "",
        "summary": known.summary if known else "",
    }


def encode_error(code: str, message: str) -> Message:
    """A message of the page that could not be taken; the connection goes on."""
    return {
        "type": "error",
        "error": {"type": "invalid_request_error", "code": code, "message": message},
    }


def _timing(timing: StageTiming) -> Message:
    return {
        "stage": timing.stage,
        "queue_s": round(timing.queue_s, 4),
        "first_output_s": round(timing.first_output_s, 4),
        "total_s": round(timing.total_s, 4),
    }
