"""Sampling parameters of the stages: the deploy file's, with what a turn and the app set."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from backend.contract.turn import TurnSettings

SILENT_ID = 151669
"""``<|silent|>`` in AURA v1 on Qwen3-VL."""

STAGES = ("hear", "think", "speak", "sound")
"""Names of the stages in settings; a pipeline that only speaks has the last two."""

FRAMES_A_SECOND = 12.5
"""Rate of Qwen3-TTS's codec: a frame for every 1920 samples at 24 kHz."""

_LEAST_SPEECH_S = 10.0
_SPEECH_S_A_CHARACTER = 1.0
"""Longest speech: English takes 0.07 s a character, Chinese 0.25 s. The slowest delivery that a
style may ask for ends by itself far below; a talker that lost its way does not, and ends here."""

Overrides = Mapping[str, Mapping[str, Any]]
"""Fields of vLLM's ``SamplingParams`` by stage name."""


def stage_params(
    defaults: Sequence[Any], overrides: Overrides, names: Sequence[str] = STAGES
) -> list[Any]:
    """The parameters of every turn.

    Outputs are deltas, whatever the deploy file says, and AURA's special tokens are kept, so that
    its silence can be told from an empty reply.

    Args:
        defaults: One ``SamplingParams`` a stage, from the deploy file.
        overrides: Fields to change, by stage name.
        names: Names of the stages, the last of which are there.

    Raises:
        ValueError: There is no such stage or field, or a value is out of bounds.
    """
    from vllm.sampling_params import RequestOutputKind

    stages = names[-len(defaults) :]
    if unknown := set(overrides) - set(stages):
        raise ValueError(f"There is no stage {', '.join(sorted(unknown))}: use {stages}.")
    params = []
    for name, default in zip(stages, defaults, strict=True):
        fixed = {"output_kind": RequestOutputKind.DELTA}
        params.append(changed(default, {**overrides.get(name, {}), **fixed}))
    if stages != STAGES:
        return params
    thinking = params[1]
    stops = [*(thinking.stop_token_ids or ()), SILENT_ID]
    changes = {"skip_special_tokens": False, "stop_token_ids": list(dict.fromkeys(stops))}
    params[1] = changed(thinking, changes)
    return params


def for_reply(params: Sequence[Any], max_reply_tokens: int) -> list[Any]:
    """The same for one turn, whose reply is at most ``max_reply_tokens`` long."""
    fewest = min(params[1].min_tokens, max_reply_tokens)
    lengths = {"max_tokens": max_reply_tokens, "min_tokens": fewest}
    return [params[0], changed(params[1], lengths), *params[2:]]


def for_look(params: Sequence[Any]) -> list[Any]:
    """The same for a look ahead: the prompt is read, and the one token that it gives is dropped."""
    return for_reply(params, 1)


def for_speech(params: Sequence[Any], talker: int, words: str, settings: TurnSettings) -> list[Any]:
    """The same for one sentence: room for slow speech, not for endless speech, and how to draw."""
    own = params[talker]
    longest = math.ceil(FRAMES_A_SECOND * speech_limit_s(words))
    changes: dict[str, Any] = {"max_tokens": max(own.min_tokens, min(own.max_tokens, longest))}
    if settings.seed is not None:
        # The talker draws a frame's first code, its code predictor the others.
        drawn = {**(own.extra_args or {}), "tts_local_seed": settings.seed}
        changes |= {"seed": settings.seed, "extra_args": drawn}
    if settings.temperature is not None:
        changes["temperature"] = settings.temperature
    return [*params[:talker], changed(own, changes), *params[talker + 1 :]]


def speech_limit_s(words: str) -> float:
    """Seconds after which no delivery of ``words`` is still at work."""
    return _LEAST_SPEECH_S + _SPEECH_S_A_CHARACTER * len(words)


def changed(params: Any, changes: Mapping[str, Any]) -> Any:
    """``SamplingParams`` with some fields changed.

    Raises:
        ValueError: There is no such field, or a value is out of bounds.
    """
    import msgspec

    try:
        return msgspec.structs.replace(params.clone(), **changes)
    except TypeError as error:
        raise ValueError(f"These are no sampling parameters: {error}") from error
