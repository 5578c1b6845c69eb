"""The server's messages on one turn, told as the app's events."""

from __future__ import annotations

from typing import Any

from backend.contract.events import (
    ReplyText,
    Silence,
    SpeechChunk,
    Stage,
    StageStarted,
    StageTiming,
    Transcript,
)
from backend.contract.turn import Turn
from backend.conversation.silence import SilenceGate
from backend.engines.events import Emit
from backend.engines.failures import StageFailed
from backend.engines.omni.reply_filter import ReplyFilter
from backend.engines.remote import troubles
from backend.engines.remote.wire import Message, measured_of, sound_of, text_of

_NO_REPLY = "The assistant chose not to reply."


class Answer:
    """Takes the messages of one session, which answers one turn."""

    def __init__(self, turn: Turn, emit: Emit, *, heard: bool) -> None:
        """Take the turn; ``heard`` says whether the server has sound to recognise."""
        self._turn = turn
        self._emit = emit
        self._heard = heard
        self._words, self._gate = ReplyFilter(), SilenceGate()
        self._started: set[Stage] = set()
        # For typed words the recogniser works on a moment of nothing, which says nothing. The last
        # two stages count from when their place was kept, long before they had words to speak.
        self._untold = {Stage.HEAR, Stage.THINK} if heard else {Stage.THINK}
        self._measured: dict[str, Any] = {}

    def take(self, message: Message) -> bool:
        """Tell of one message.

        Returns:
            Whether the answer is complete.

        Raises:
            StageFailed: The server failed, or the message is garbled.
            ServerRefused: The server cannot serve at all.
        """
        self._measured = measured_of(message) or self._measured
        match message["type"]:
            case "input_audio_buffer.committed":
                self._start(Stage.HEAR if self._heard else Stage.THINK)
            case "conversation.item.input_audio_transcription.completed":
                self._transcribe(text_of(message, "transcript"))
            case "response.created":
                self._start(Stage.THINK)
            case "response.output_audio_transcript.delta" | "response.output_text.delta":
                self._write(self._words.feed(text_of(message, "delta")))
            case "response.output_audio.delta":
                self._sound(message)
            case "response.listen":
                return self._listen(message)
            case "response.done":
                return self._end(message)
            case "error":
                raise troubles.trouble_in(message)
            case "session.closed" | "session.expired" | "session.replaced":
                raise StageFailed(troubles.ENDED)
        return False

    def _start(self, stage: Stage) -> None:
        if stage not in self._started:
            self._started.add(stage)
            self._emit(StageStarted(turn_id=self._turn.id, stage=stage))

    def _transcribe(self, words: str) -> None:
        if words.strip():
            self._emit(Transcript(turn_id=self._turn.id, text=words.strip(), final=True))
        self._start(Stage.THINK)

    def _write(self, words: str) -> None:
        if text := self._gate.feed(words):
            self._tell_times(Stage.HEAR)
            self._emit(ReplyText(turn_id=self._turn.id, delta=text))

    def _sound(self, message: Message) -> None:
        samples, rate = sound_of(message)
        if not self._turn.settings.spoken or not len(samples):
            return
        # The server does not say when its talker starts; here it is known to have.
        self._start(Stage.SPEAK)
        self._emit(SpeechChunk(turn_id=self._turn.id, pcm=samples, sample_rate=rate))

    def _listen(self, message: Message) -> bool:
        response = message.get("response")
        metadata = response.get("metadata") if isinstance(response, dict) else None
        if isinstance(metadata, dict) and metadata.get("buffering"):
            return False
        self._emit(Silence(turn_id=self._turn.id, reason=_NO_REPLY))
        self._tell_times(*Stage)
        return True

    def _end(self, message: Message) -> bool:
        response = message.get("response")
        status = response.get("status") if isinstance(response, dict) else None
        if status == "failed":
            raise StageFailed(troubles.MODEL_FAILED)
        if status == "cancelled":
            raise StageFailed(troubles.STOPPED)
        self._write(self._words.finish())
        if rest := self._gate.finish():
            self._emit(ReplyText(turn_id=self._turn.id, delta=rest))
        if self._gate.silent:
            self._emit(Silence(turn_id=self._turn.id, reason=_NO_REPLY))
        self._tell_times(*Stage)
        return True

    def _tell_times(self, *stages: Stage) -> None:
        for number, stage in enumerate(Stage):
            values = self._measured.get(str(number))
            if stage not in stages or stage not in self._untold or not isinstance(values, dict):
                continue
            if timing := _timing(self._turn.id, stage, values):
                self._untold.discard(stage)
                self._emit(timing)


def _timing(turn_id: str, stage: Stage, measured: dict[str, Any]) -> StageTiming | None:
    """What the server measured of a stage, as far as it did; how long it waited is not told."""
    first, total = measured.get("vllm_ttft_ms"), measured.get("stage_gen_time_ms")
    if not isinstance(total, int | float) or not isinstance(first, int | float) or first <= 0:
        return None
    # The server takes the two by different clocks; the second may leave out the input's preparing.
    total = max(first, total)
    return StageTiming(
        turn_id=turn_id, stage=stage, queue_s=0.0, first_output_s=first / 1000, total_s=total / 1000
    )
