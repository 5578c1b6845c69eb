"""What a client is told beside its turns: the session, the engine, items, and what went wrong."""

from __future__ import annotations

from typing import Any

from backend.contract.engine import EngineStatus
from backend.contract.events import StageTiming
from backend.conversation.record import TurnRecord
from backend.conversation.session import Session
from backend.realtime.protocol import WIRE_RATE, Message


def encode_session(session: Session, status: EngineStatus, *, listens: bool) -> Message:
    """How the conversation goes on, as a ``session`` of the protocol.

    Args:
        session: Whose it is.
        status: What is known of the engine, which is the model of the session.
        listens: Whether the app hears by itself when the person has finished.
    """
    detection = {"type": "server_vad"} if listens else None
    pcm = {"type": "audio/pcm", "rate": WIRE_RATE}
    return {
        "type": "realtime",
        "object": "realtime.session",
        "id": session.id,
        "model": status.capabilities.name if status.capabilities else "",
        "output_modalities": ["audio"],
        "instructions": session.settings.system_prompt,
        "turn_detection": detection,
        "audio": {"input": {"format": pcm, "turn_detection": detection}, "output": {"format": pcm}},
    }


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
        "timings": [encode_timing(timing) for timing in record.timings.values()],
        "outcome": record.outcome,
        "message": record.message,
        "metrics": record.metrics,
        "has_sound": bool(record.speech),
        "interrupted": record.cut_by_speech,
        "unasked": record.unasked,
    }


def encode_item(item_id: str, role: str, content: list[Any], status: str = "completed") -> Message:
    """One item of the conversation: what one side has said."""
    return {
        "id": item_id,
        "object": "realtime.item",
        "type": "message",
        "status": status,
        "role": role,
        "content": content,
    }


def encode_status(status: EngineStatus) -> Message:
    """The engine's state."""
    known = status.capabilities
    return {
        "type": "omni.engine",
        "state": status.state,
        "message": status.message,
        "progress": round(status.progress, 3),
        "pipeline": status.pipeline,
        "pipelines": status.pipelines,
        "name": known.name if known else "",
        "summary": known.summary if known else "",
        "sees_pictures": known.sees_pictures if known else False,
        "answers": known.answers if known else False,
        "recites": known.recites if known else False,
        "changes_speed": known.voice.changes_speed if known else False,
        "changes_pitch": known.voice.changes_pitch if known else False,
        "takes_sampling": known.voice.takes_sampling if known else False,
        "style_chars": known.voice.style_chars if known else 0,
        "voice_modes": known.voice.modes if known else (),
        "voice_languages": known.voice.languages if known else (),
    }


def encode_error(code: str, message: str, event_id: str | None = None) -> Message:
    """A message of a client that could not be taken; the connection goes on.

    Args:
        code: Stable machine name.
        message: Plain words.
        event_id: The id that the client gave its message, if any.
    """
    error = {
        "type": "invalid_request_error",
        "code": code,
        "message": message,
        "param": None,
        "event_id": event_id,
    }
    return {"type": "error", "error": error}


def encode_timing(timing: StageTiming) -> Message:
    """What a stage took, in seconds."""
    return {
        "stage": timing.stage,
        "queue_s": round(timing.queue_s, 4),
        "first_output_s": round(timing.first_output_s, 4),
        "total_s": round(timing.total_s, 4),
    }
