"""One reply in the events of the protocol: an item with one part, which is spoken words."""

from __future__ import annotations

import base64

import numpy as np
import soxr

from backend.contract.events import Outcome
from backend.conversation.record import TurnRecord
from backend.realtime.outgoing import encode_item
from backend.realtime.protocol import WIRE_RATE, Message

STATUS = {
    Outcome.ANSWERED: "completed",
    Outcome.SILENT: "completed",
    Outcome.CANCELLED: "cancelled",
    Outcome.FAILED: "failed",
}


class ReplyEvents:
    """Tells one client of one reply while it is made."""

    def __init__(self, record: TurnRecord, after_item: str | None, *, resample: bool) -> None:
        """Tell of ``record``'s reply.

        Args:
            record: The turn that is answered.
            after_item: The item before the reply.
            resample: Whether its sound is turned into 24 kHz; else it keeps the engine's rate.
        """
        self._record = record
        self._after_item = after_item
        self._resample = resample
        self._resampler: soxr.ResampleStream | None = None
        self._opened = self._sounded = False
        self._place = {
            "response_id": record.turn.id,
            "item_id": record.turn.id,
            "output_index": 0,
            "content_index": 0,
        }

    def created(self) -> Message:
        """The reply is being worked on."""
        return {"type": "response.created", "response": self._response("in_progress")}

    def words(self, delta: str) -> list[Message]:
        """More of what is said, as text."""
        message = {"type": "response.output_audio_transcript.delta", **self._place, "delta": delta}
        return [*self._open(), message]

    def sound(self, pcm16: bytes, sample_rate: int) -> list[Message]:
        """More of what is said, as sound."""
        if self._resample and sample_rate != WIRE_RATE:
            if self._resampler is None:
                self._resampler = soxr.ResampleStream(sample_rate, WIRE_RATE, 1, dtype="int16")
            pcm16 = self._resampler.resample_chunk(np.frombuffer(pcm16, "<i2")).tobytes()
            sample_rate = WIRE_RATE
        return [*self._open(), *([self._delta(pcm16, sample_rate)] if pcm16 else [])]

    def end(self) -> list[Message]:
        """The turn has ended: all that is open is closed, ``response.done`` last."""
        return [*self._close(), self._done()]

    def _open(self) -> list[Message]:
        if self._opened:
            return []
        self._opened = True
        item = encode_item(self._record.turn.id, "assistant", [], "in_progress")
        part = {"type": "audio", "transcript": ""}
        added = {"previous_item_id": self._after_item, "item": item}
        return [
            {"type": "response.output_item.added", **self._output, "item": item},
            {"type": "conversation.item.added", **added},
            {"type": "response.content_part.added", **self._place, "part": part},
        ]

    def _close(self) -> list[Message]:
        if not self._opened:
            return []
        transcript, place = self._record.reply, self._place
        part = {"type": "audio", "transcript": transcript}
        item, after = self._item(), self._after_item
        spoken = [{"type": "response.output_audio.done", **place}] if self._sounded else []
        words = "response.output_audio_transcript.done"
        return [
            *self._rest(),
            *spoken,
            {"type": words, **place, "transcript": transcript},
            {"type": "response.content_part.done", **place, "part": part},
            {"type": "response.output_item.done", **self._output, "item": item},
            {"type": "conversation.item.done", "previous_item_id": after, "item": item},
        ]

    def _rest(self) -> list[Message]:
        """What the resampler still held, unless nobody is to hear it."""
        if self._resampler is None or self._record.outcome is Outcome.CANCELLED:
            return []
        rest = self._resampler.resample_chunk(np.zeros(0, np.int16), last=True).tobytes()
        return [self._delta(rest, WIRE_RATE)] if rest else []

    def _delta(self, pcm16: bytes, sample_rate: int) -> Message:
        self._sounded = True
        sound = base64.b64encode(pcm16).decode("ascii")
        kind = "response.output_audio.delta"
        return {"type": kind, **self._place, "delta": sound, "sample_rate": sample_rate}

    def _done(self) -> Message:
        record = self._record
        assert record.outcome is not None  # noqa: S101 - it has ended
        response = self._response(STATUS[record.outcome])
        return {
            "type": "response.done",
            "response_id": record.turn.id,
            "response": response,
            "outcome": record.outcome,
            "message": record.message,
            "metrics": record.metrics,
        }

    def _response(self, status: str) -> Message:
        return {
            "id": self._record.turn.id,
            "object": "realtime.response",
            "status": status,
            "status_details": self._details(status),
            "output": [self._item()] if self._opened and status != "in_progress" else [],
            "output_modalities": ["audio"],
            "conversation_id": self._record.turn.session_id,
        }

    def _details(self, status: str) -> Message | None:
        if status == "cancelled":
            speech = self._record.cut_by_speech
            return {"type": status, "reason": "turn_detected" if speech else "client_cancelled"}
        if status == "failed":
            error = {"type": "server_error", "code": "failed", "message": self._record.message}
            return {"type": status, "error": error}
        return None

    def _item(self) -> Message:
        whole = self._record.outcome is Outcome.ANSWERED
        content = [{"type": "output_audio", "transcript": self._record.reply}]
        status = "completed" if whole else "incomplete"
        return encode_item(self._record.turn.id, "assistant", content, status)

    @property
    def _output(self) -> Message:
        return {"response_id": self._record.turn.id, "output_index": 0}
