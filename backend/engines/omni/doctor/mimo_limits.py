"""What in a deploy file of MiMo-Audio does not go together, in plain words.

None of it keeps the stages from starting: replies are wrong, or a stage ends in the middle of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from backend.engines.omni.doctor.stage_plan import StagePlan

GROUP_S = 0.16
"""The model speaks in groups of four codec frames."""

_GROUP_NUMBERS = 36
"""A group on its way to the sound stage: of each frame a mark and eight codes."""

_MOST_NUMBERS = 18_192
"""Of a reply that is handed over whole; vLLM-Omni cuts off what is more."""

_LEAST_PIECE, _USUAL_PIECE = 3, 10
_LEFT_CONTEXT = 40
"""Groups before a piece that its decoder looks back on: with fewer, the voice changes at joins."""


def limit_doubts(deploy: Mapping[str, Any], stages: Sequence[StagePlan]) -> list[str]:
    """What looks wrong in a file with the stages of MiMo-Audio, by number."""
    think, sound = stages
    streams = think.async_chunk and sound.async_chunk
    handing_on = _piece_doubts(deploy, sound) if streams else _whole_doubts(sound)
    return [*handing_on, *_batch_doubts(stages), *_thinking_doubts(think)]


def _piece_doubts(deploy: Mapping[str, Any], sound: StagePlan) -> Iterator[str]:
    extra = _codec_options(deploy)
    piece = int(extra.get("codec_chunk_frames", _USUAL_PIECE))
    left = int(extra.get("codec_left_context_frames", _LEFT_CONTEXT))
    if piece < _LEAST_PIECE:
        least = f"codec_chunk_frames must be {_LEAST_PIECE} or more"
        yield f"{least}; {piece} counts as {_USUAL_PIECE}."
        piece = _USUAL_PIECE
    if left < _LEFT_CONTEXT:
        yield f"codec_left_context_frames must be {_LEFT_CONTEXT} or more; {left} counts as that."
        left = _LEFT_CONTEXT
    numbers = (left + piece) * _GROUP_NUMBERS
    if numbers > sound.max_model_len:
        most = sound.max_model_len // _GROUP_NUMBERS - left
        lower = f"lower codec_chunk_frames to {most}, or " if most >= _LEAST_PIECE else ""
        yield (
            f"A piece of sound has {numbers:,} numbers ({_GROUP_NUMBERS} for each of {piece} groups"
            f" and {left} before them), and stage {sound.number} takes {sound.max_model_len:,}:"
            f" {lower}raise its max_model_len."
        )


def _codec_options(deploy: Mapping[str, Any]) -> Mapping[str, Any]:
    connectors = (deploy.get("connectors") or {}).values()
    options = [connector.get("extra") or {} for connector in connectors]
    return next((extra for extra in options if "codec_chunk_frames" in extra), {})


def _whole_doubts(sound: StagePlan) -> Iterator[str]:
    longest_s = min(sound.max_model_len, _MOST_NUMBERS) // _GROUP_NUMBERS * GROUP_S
    yield (
        "Without async_chunk, a reply of words alone never ends where sound is asked for too. Set"
        " async_chunk: true."
    )
    if sound.max_model_len < _MOST_NUMBERS:
        yield (
            f"Without async_chunk, a reply longer than {longest_s:.1f} s ends stage {sound.number}."
            f" Raise its max_model_len and max_num_batched_tokens to {_MOST_NUMBERS}."
        )
    else:
        yield f"Without async_chunk, replies are cut off after {longest_s:.1f} s."


def _batch_doubts(stages: Sequence[StagePlan]) -> Iterator[str]:
    for stage in stages:
        if stage.max_num_batched_tokens < stage.max_model_len:
            yield (
                f"max_num_batched_tokens of stage {stage.number} is less than its max_model_len: a"
                " long prompt is read in parts, and the sound in it is put into the wrong places."
                f" Raise it to {stage.max_model_len}."
            )
        if stage.tensor_parallel > 1:
            yield (
                f"tensor_parallel_size of stage {stage.number} must be 1: spread over several"
                " cards, MiMo-Audio has failed (vllm-project/vllm-omni#1612)."
            )
        if stage.prefix_caching:
            yield (
                f"enable_prefix_caching must be false on stage {stage.number}: all recordings look"
                " alike in a prompt, so one would be taken for another."
            )


def _thinking_doubts(think: StagePlan) -> Iterator[str]:
    if think.graphs:
        yield (
            f"enforce_eager must be true on stage {think.number}: between its steps it chooses the"
            " sound, and a graph leaves that out."
        )
    if think.max_num_seqs > 1:
        yield (
            f"max_num_seqs of stage {think.number} must be 1: while one request speaks, the"
            " recordings of a second one that begins are lost, and the model hears nothing."
        )
