"""What of a request MiMo-Audio cannot work on."""

from __future__ import annotations

from dataclasses import replace

from backend.contract.errors import Field, TurnRefused
from backend.contract.tasks import TaskKind, TaskRequest, check_inputs
from backend.engines.omni.mimo import phrases
from backend.engines.omni.mimo.clips import check_clip
from backend.engines.omni.mimo.tokens import clean


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
