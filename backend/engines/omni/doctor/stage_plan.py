"""What a deploy file asks for one stage."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Role(StrEnum):
    """What a stage does, in the order in which a turn needs it."""

    HEAR = "hear"
    THINK = "think"
    SPEAK = "speak"
    SOUND = "sound"


MIMO = "mimo_audio"

PIPELINES = {
    "aura_omni": tuple(Role),
    "qwen3_tts": (Role.SPEAK, Role.SOUND),
    MIMO: (Role.THINK, Role.SOUND),
}
"""The pipelines that the engine runs: their stages, by their numbers in a deploy file."""

TOKENIZER_DEVICE = "MIMO_AUDIO_TOKENIZER_DEVICE"
"""Tells each process that has MiMo-Audio's audio tokenizer where to put its copy."""


@dataclass(frozen=True, slots=True)
class StagePlan:
    """What a deploy file asks for one stage.

    Attributes:
        pipeline: The pipeline that it belongs to.
        number: Its ``stage_id``.
        role: What it does.
        model: Hub name or folder of its model.
        devices: The cards it runs on, by number.
        share: Part of each card that it may fill, 0 to 1.
        tensor_parallel: Cards that one copy of the model is spread over.
        replicas: Copies of the stage.
        max_model_len: Longest prompt and output together, in tokens.
        max_num_seqs: Requests that it works on at once.
        max_num_batched_tokens: Tokens that one step takes in.
        quantization: Name of the quantisation while loading, or none.
        kv_item_bytes: Bytes of one number in the KV cache.
        kv_bytes: Size of the KV cache when it is fixed, else none.
        graphs: Whether CUDA graphs are captured.
        dummy: Whether the weights are random, so that none are needed on disk.
        async_chunk: Whether it hands its work on piece by piece.
        prefix_caching: Whether prompts that begin alike are worked out once.
        picture_tokens: Most tokens that the pictures of one question can become.
        tokenizer_device: Where its copy of MiMo-Audio's audio tokenizer runs, as ``cpu`` or
            ``cuda:0``; empty for where the app's runs.
    """

    pipeline: str
    number: int
    role: Role
    model: str
    devices: tuple[int, ...]
    share: float
    tensor_parallel: int
    replicas: int
    max_model_len: int
    max_num_seqs: int
    max_num_batched_tokens: int
    quantization: str | None
    kv_item_bytes: int
    kv_bytes: int | None
    graphs: bool
    dummy: bool
    async_chunk: bool
    prefix_caching: bool
    picture_tokens: int
    tokenizer_device: str


def plan_stage(
    entry: Mapping[str, Any], deploy: Mapping[str, Any], roles: tuple[Role, ...]
) -> StagePlan:
    """Read one entry of ``stages``, with what the whole file says to all of them.

    Args:
        entry: The entry.
        deploy: The file.
        roles: The stages of its pipeline.

    Raises:
        KeyError, IndexError, TypeError, ValueError: A value is missing or of the wrong kind.
    """
    fp8_kv = str(entry.get("kv_cache_dtype", "auto")).startswith("fp8")
    kv_bytes = entry.get("kv_cache_memory_bytes")
    quantization = entry.get("quantization", deploy.get("quantization"))
    caching = entry.get("enable_prefix_caching", deploy.get("enable_prefix_caching"))
    return StagePlan(
        pipeline=str(deploy["pipeline"]),
        number=int(entry["stage_id"]),
        role=roles[int(entry["stage_id"])],
        model=str(entry.get("model") or ""),
        devices=tuple(int(card) for card in str(entry.get("devices") or "0").split(",")),
        share=float(entry.get("gpu_memory_utilization", 0.92)),
        tensor_parallel=int(entry.get("tensor_parallel_size") or 1),
        replicas=int(entry.get("num_replicas") or 1),
        max_model_len=int(entry.get("max_model_len") or 0),
        max_num_seqs=int(entry.get("max_num_seqs") or 1),
        max_num_batched_tokens=int(entry.get("max_num_batched_tokens") or 8192),
        quantization=str(quantization) if quantization else None,
        kv_item_bytes=1 if fp8_kv else 2,
        kv_bytes=int(kv_bytes) if kv_bytes else None,
        graphs=not entry.get("enforce_eager", False),
        dummy=entry.get("load_format") == "dummy",
        async_chunk=bool(deploy.get("async_chunk", True)) and entry.get("async_chunk") is not False,
        prefix_caching=caching is not False,
        picture_tokens=_picture_tokens(entry),
        tokenizer_device=checked_device((entry.get("env") or {}).get(TOKENIZER_DEVICE)),
    )


def checked_device(device: object) -> str:
    """Where a copy of the audio tokenizer is to run, or empty.

    Raises:
        ValueError: There can be no such device.
    """
    text = str(device or "").lower()
    if not re.fullmatch(r"(cpu|cuda(:\d+)?)?", text):
        raise ValueError(f"an audio tokenizer runs on cpu or on a card such as cuda:0, not {text}")
    return text


def _picture_tokens(entry: Mapping[str, Any]) -> int:
    """Qwen3-VL makes a token of 32x32 pixels, in a video of two frames of them."""
    limits = entry.get("limit_mm_per_prompt") or {}
    size = (entry.get("mm_processor_kwargs") or {}).get("size") or {}
    image = int(size.get("longest_edge", 16_777_216)) // 1024 if limits.get("image", 1) else 0
    video = int(size.get("longest_edge", 25_165_824)) // 2048 if limits.get("video", 1) else 0
    return max(image, video)
