"""What a client may say."""

from __future__ import annotations

import base64
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, Field

from backend.realtime.session_config import SessionConfig

MAX_APPEND_CHARS = 1_000_000
"""Longest piece of recorded sound in one message, in base64 characters: seconds, not minutes."""

MAX_FRAME_CHARS = 700_000
"""Largest picture in one message, in base64 characters: 0.5 MB of JPEG."""

MAX_ID_CHARS = 512


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


class ClientEvent(BaseModel):
    """Something that a client says. An error that it causes carries its ``event_id``."""

    event_id: str | None = Field(None, max_length=MAX_ID_CHARS)


class SessionUpdate(ClientEvent):
    """Change how the conversation goes on."""

    type: Literal["session.update"]
    session: SessionConfig


class ResponseConfig(BaseModel):
    """What holds for one answer alone."""

    instructions: Annotated[str | None, Field(max_length=8000)] = None


class ResponseCreate(ClientEvent):
    """Answer what was recorded and written since the last answer."""

    type: Literal["response.create"]
    response: ResponseConfig | None = None


class TextPart(BaseModel):
    """Written words of an item."""

    type: Literal["input_text"]
    text: str = Field(max_length=8000)


class UserItem(BaseModel):
    """What the person has written."""

    type: Literal["message"]
    role: Literal["user"]
    content: list[TextPart] = Field(min_length=1, max_length=16)
    id: str | None = Field(None, min_length=1, max_length=64)


class ItemCreate(ClientEvent):
    """Add to what the next answer is for."""

    type: Literal["conversation.item.create"]
    item: UserItem


class ItemTruncate(ClientEvent):
    """Of this reply only so much was heard."""

    type: Literal["conversation.item.truncate"]
    item_id: str = Field(max_length=64)
    audio_end_ms: int = Field(ge=0, le=3_600_000)


class PlaybackReport(ClientEvent):
    """What of a reply the player has played."""

    type: Literal["omni.playback"]
    response_id: str = Field(max_length=64)
    playing: bool
    played_ms: int = Field(ge=0, le=3_600_000)


class ResponseCancel(ClientEvent):
    """Stop the turn under way, or this one where it is named."""

    type: Literal["response.cancel"]
    response_id: str | None = Field(None, max_length=64)


class AudioAppend(ClientEvent):
    """More of what the microphone hears, base64 PCM16 mono, and of what the camera sees."""

    type: Literal["input_audio_buffer.append"]
    audio: Annotated[bytes, BeforeValidator(_pcm16)]
    sample_rate: int | None = Field(None, ge=8_000, le=96_000)
    video_frames: list[Annotated[bytes, BeforeValidator(_jpeg)]] = Field([], max_length=4)


class AudioCommit(ClientEvent):
    """The recording is complete; Send may take it."""

    type: Literal["input_audio_buffer.commit"]


class AudioClear(ClientEvent):
    """Forget the recording."""

    type: Literal["input_audio_buffer.clear"]


class Clear(ClientEvent):
    """Begin a new conversation."""

    type: Literal["omni.conversation.clear"]


class Rebuild(ClientEvent):
    """Load the engine again after it has failed."""

    type: Literal["omni.engine.rebuild"]


ClientMessage = (
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
    | Rebuild
)
