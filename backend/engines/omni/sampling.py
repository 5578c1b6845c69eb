"""Sampling parameters of the four stages: the deploy file's, with what a turn and the app set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SILENT_ID = 151669
"""``<|silent|>`` in AURA v1 on Qwen3-VL."""

STAGES = ("hear", "think", "speak", "sound")
"""Names of the pipeline's stages in settings, in its order."""

Overrides = Mapping[str, Mapping[str, Any]]
"""Fields of vLLM's ``SamplingParams`` by stage name."""


def stage_params(defaults: Sequence[Any], overrides: Overrides) -> list[Any]:
    """The parameters of every turn.

    Outputs are deltas, whatever the deploy file says, and AURA's special tokens are kept, so that
    its silence can be told from an empty reply.

    Args:
        defaults: One ``SamplingParams`` a stage, from the deploy file.
        overrides: Fields to change, by stage name.

    Raises:
        ValueError: There is no such stage or field, or a value is out of bounds.
    """
    from vllm.sampling_params import RequestOutputKind

    if unknown := set(overrides) - set(STAGES):
        raise ValueError(f"There is no stage {', '.join(sorted(unknown))}: use {STAGES}.")
    params = []
    for name, default in zip(STAGES, defaults, strict=True):
        fixed = {"output_kind": RequestOutputKind.DELTA}
        params.append(_changed(default, {**overrides.get(name, {}), **fixed}))
    thinking = params[1]
    stops = [*(thinking.stop_token_ids or ()), SILENT_ID]
    changes = {"skip_special_tokens": False, "stop_token_ids": list(dict.fromkeys(stops))}
    params[1] = _changed(thinking, changes)
    return params


def for_reply(params: Sequence[Any], max_reply_tokens: int) -> list[Any]:
    """The same for one turn, whose reply is at most ``max_reply_tokens`` long."""
    fewest = min(params[1].min_tokens, max_reply_tokens)
    lengths = {"max_tokens": max_reply_tokens, "min_tokens": fewest}
    return [params[0], _changed(params[1], lengths), *params[2:]]


def for_look(params: Sequence[Any]) -> list[Any]:
    """The same for a look ahead: the prompt is read, and the one token that it gives is dropped."""
    return for_reply(params, 1)


def _changed(params: Any, changes: Mapping[str, Any]) -> Any:
    import msgspec

    try:
        return msgspec.structs.replace(params.clone(), **changes)
    except TypeError as error:
        raise ValueError(f"These are no sampling parameters: {error}") from error
