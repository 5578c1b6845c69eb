"""Tasks for engines whose models know none: what each becomes of hearing, answering and speaking.

Such an engine has ``as_turn`` make the turn that its door then looks at as at any other, and
``TaskWork`` do it.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from backend.contract.engine import Capabilities
from backend.contract.errors import Field, TurnRefused
from backend.contract.events import (
    Notice,
    ReplyText,
    Silence,
    Stage,
    StageProgress,
    StageStarted,
    StageTiming,
)
from backend.contract.media import AudioClip
from backend.contract.tasks import EarlierTurn, Input, TaskRequest, check_inputs, task_kind
from backend.contract.turn import Exchange, Turn
from backend.engines.door import check_audio, check_task
from backend.engines.events import Emit
from backend.engines.failures import plainly
from backend.media.pauses import pieces

MIN_S = 0.1
"""Shortest clip, in seconds; there is no word in less."""

MAX_REPLY_TOKENS = 256
"""Longest reply. Tasks ask for as many tokens as minutes of sound are for a model that counts them
so; small models that may go on for long say the same again and again."""

_TRANSCRIBE = "audio_trancribing_sft"
TASKS = (
    "tts_sft",
    _TRANSCRIBE,
    "spoken_dialogue_sft_multiturn",
    "speech2text_dialogue_sft_multiturn",
    "text_dialogue_sft_multiturn",
)
"""Names of the tasks that can be made of ordinary turns."""


def as_turn(turn: Turn, task: TaskRequest, capabilities: Capabilities) -> Turn:
    """The ordinary turn that a task comes to, without what has to be heard first.

    It keeps its task: ``TaskWork`` goes by it, and a voice that can tells captions.

    Raises:
        TurnRefused: ``voice_mode``, ``audio_too_short``, or a code of ``check_task``,
            ``check_inputs`` or ``check_audio``.
    """
    check_task(task, capabilities)
    kind = task_kind(task.task, task.variant)
    check_inputs(kind, task)
    if task.voice is not None:
        text = "This engine speaks with its own voice and cannot copy one. Leave the clip out."
        raise TurnRefused("voice_mode", text, Field.VOICE)
    if task.clip is not None:
        _check_clip(task.clip)
    for clip in _unwritten(task.history):
        check_audio(clip, "recording of an earlier turn", Field.TURN)
    settings = replace(
        turn.settings,
        spoken=kind.speaks and turn.settings.spoken,
        max_reply_tokens=min(turn.settings.max_reply_tokens, MAX_REPLY_TOKENS),
        system_prompt=task.system_prompt or turn.settings.system_prompt,
    )
    recited = kind.speaks and Input.TEXT in kind.required
    text, script = ("", task.text) if recited else (task.text, "")
    return Turn(
        session_id=turn.session_id,
        generation=turn.generation,
        text=text,
        script=script,
        audio=task.clip,
        task=task,
        settings=settings,
        id=turn.id,
    )


@dataclass(frozen=True, slots=True)
class TaskWork:
    """Works on one task.

    Attributes:
        turn: What ``as_turn`` made of it.
        task: The task.
        hear: ``Engine.hear``.
        answer: Works on an ordinary turn, and tells of it through the same ``emit``.
        emit: Told what happens.
    """

    turn: Turn
    task: TaskRequest
    hear: Callable[[AudioClip, str], Awaitable[str]]
    answer: Callable[[Turn], Awaitable[None]]
    emit: Emit

    async def run(self) -> None:
        """Do all the work. Cancelling it stops what is under way.

        Raises:
            StageFailed: What was said could not be turned into words.
            Exception: Whatever ``answer`` raises.
        """
        kind = task_kind(self.task.task, self.task.variant)
        if self.task.task == _TRANSCRIBE and self.task.clip is not None:
            await self._transcribe(self.task.clip, repeat=kind.speaks)
            return
        if kind.reasons:
            text = "This engine's model does not reason before it answers: this is its answer."
            self.emit(Notice(turn_id=self.turn.id, code="no_reasoning", text=text))
        await self.answer(replace(self.turn, history=await self._history()))

    async def _transcribe(self, clip: AudioClip, *, repeat: bool) -> None:
        words = (await self._heard([clip], written=not repeat))[clip]
        if not any(sign.isalnum() for sign in words):
            self.emit(Silence(turn_id=self.turn.id, reason="No speech was heard."))
        elif repeat:
            await self.answer(replace(self.turn, audio=None, script=words))

    async def _history(self) -> tuple[Exchange, ...]:
        clips = [clip for clip in _unwritten(self.task.history) if clip.duration_s >= MIN_S]
        heard = await self._heard(clips) if clips else {}

        def words(written: str, clip: AudioClip | None) -> str:
            return written if clip is None else heard.get(clip, written)

        return tuple(
            Exchange(words(turn.text, turn.clip), words(turn.answer, turn.answer_clip))
            for turn in self.task.history
        )

    async def _heard(
        self, clips: Sequence[AudioClip], *, written: bool = False
    ) -> dict[AudioClip, str]:
        """The words of each clip; they are the reply where they are to be written down."""
        turn_id, started_at, first_s = self.turn.id, time.monotonic(), 0.0
        self.emit(StageStarted(turn_id=turn_id, stage=Stage.HEAR))
        parts = [(clip, part) for clip in clips for part in pieces(clip)]
        words = dict.fromkeys(clips, "")
        for number, (clip, part) in enumerate(parts, start=1):
            with plainly("A recording could not be turned into words. Try again."):
                heard = await self.hear(part, self.turn.settings.language)
            first_s = first_s or time.monotonic() - started_at
            delta = f" {heard}" if words[clip] and heard else heard
            words[clip] += delta
            if delta and written:
                self.emit(ReplyText(turn_id=turn_id, delta=delta))
            share = number / len(parts)
            self.emit(StageProgress(turn_id=turn_id, stage=Stage.HEAR, share=share))
        total_s = time.monotonic() - started_at
        times = {"queue_s": 0.0, "first_output_s": first_s, "total_s": total_s}
        self.emit(StageTiming(turn_id=turn_id, stage=Stage.HEAR, **times))
        return words


def _unwritten(history: Sequence[EarlierTurn]) -> list[AudioClip]:
    """The clips of earlier turns whose words are not known."""
    sides = [
        side
        for turn in history
        for side in ((turn.text, turn.clip), (turn.answer, turn.answer_clip))
    ]
    return [clip for words, clip in sides if clip is not None and not words.strip()]


def _check_clip(clip: AudioClip) -> None:
    check_audio(clip)
    if clip.duration_s < MIN_S:
        text = f"This recording is too short: it must have at least {MIN_S:g} s."
        raise TurnRefused("audio_too_short", text, Field.AUDIO)
