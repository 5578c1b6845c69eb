"""What of a request MiMo-Audio cannot work on."""

from __future__ import annotations

from dataclasses import replace

from backend.contract.errors import Field, TurnRefused
from backend.contract.media import AudioClip
from backend.contract.tasks import EarlierTurn, TaskKind, TaskRequest, check_inputs
from backend.engines.omni.mimo import phrases
from backend.engines.omni.mimo.clips import at_model_rate, check_clip
from backend.engines.omni.mimo.tokens import clean


def at_model_rates(request: TaskRequest) -> TaskRequest:
    """The same request with all its clips at 24 kHz.

    Raises:
        TurnRefused: One of ``at_model_rate`` for any clip.
    """
    return replace(
        request,
        voice=_at_model_rate(request.voice, "clip of a voice", Field.VOICE),
        clip=_at_model_rate(request.clip, "recording", Field.AUDIO),
        history=tuple(_earlier(turn) for turn in request.history),
    )


def _earlier(turn: EarlierTurn) -> EarlierTurn:
    answer = turn.answer_clip
    if answer is not None and not answer.samples.size:  # stopped before there was any sound
        answer = None
    return replace(
        turn,
        clip=_at_model_rate(turn.clip, "recording of an earlier turn", Field.TURN),
        answer_clip=_at_model_rate(answer, "reply of an earlier turn", Field.TURN),
    )


def _at_model_rate(clip: AudioClip | None, name: str, field: Field) -> AudioClip | None:
    return None if clip is None else at_model_rate(clip, name, field)


def check_request(kind: TaskKind, request: TaskRequest) -> None:
    """Refuse a request that the model cannot work on. Words of control tokens alone are none.

    Raises:
        TurnRefused: ``unknown_phrase``, or one of ``check_inputs``, or one of ``check_clip`` for
            any clip, those of earlier turns included.
    """
    words = replace(
        request,
        text=clean(request.text),
        instruct=clean(request.instruct),
        question=clean(request.question),
        system_prompt=clean(request.system_prompt),
    )
    check_inputs(kind, words)
    if not 0 <= request.phrase < phrases.COUNT:
        text = f"The phrase must have a number from 0 to {phrases.COUNT - 1}."
        raise TurnRefused("unknown_phrase", text, Field.SETTINGS)
    if request.voice is not None:
        check_clip(request.voice, "clip of a voice", Field.VOICE)
    if request.clip is not None:
        check_clip(request.clip)
    for turn in request.history:
        if turn.clip is not None:
            check_clip(turn.clip, "recording of an earlier turn", Field.TURN)
