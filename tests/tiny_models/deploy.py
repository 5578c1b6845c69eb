"""Deploy files for a CPU: AURA, or Qwen3-TTS alone, its sound while it is still being made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from tests.tiny_models.folders import write_asr, write_aura, write_tts
from tests.tiny_models.sizes import Size

MIB = 1 << 20
_Part = dict[str, Any]


@dataclass(frozen=True)
class AuraModels:
    """The folders of the three models that AURA's four stages load."""

    asr: Path
    aura: Path
    tts: Path


def write_aura_models(
    folder: Path, kind: Literal["Base", "CustomVoice"] = "CustomVoice", size: Size = Size.TINY
) -> AuraModels:
    """Write all three below ``folder``."""
    return AuraModels(
        asr=write_asr(folder / "asr", size),
        aura=write_aura(folder / "aura", size),
        tts=write_tts(folder / f"tts-{kind.lower()}", kind, size),
    )


def write_aura_deploy(
    path: Path,
    models: AuraModels,
    *,
    max_num_seqs: int = 4,
    reply_tokens: int = 24,
    speech_tokens: int = 64,
    first_chunk_frames: int = 4,
    chunk_frames: int = 10,
    max_sessions: int = 0,
) -> Path:
    """Write the deploy file that runs ``models`` with weights that ``omni_cpu`` makes up.

    Args:
        path: Where to.
        models: What the stages load.
        max_num_seqs: Turns that each stage works on at once.
        reply_tokens: Length of a reply; random models hardly ever end one by themselves.
        speech_tokens: Length of the speech, in codec frames of 80 ms.
        first_chunk_frames: Codec frames before the first sound.
        chunk_frames: Codec frames in each piece of sound after that.
        max_sessions: Sessions of a server for live ones; 0 for an engine that answers turns.

    Returns:
        ``path``.
    """
    stages = [
        {
            **stage_entry(0, models.asr, max_num_seqs, max_model_len=4096),
            # Only the talker hands on its work piece by piece. With it on here, AURA would get a
            # prompt of one token: no transcript, no video.
            "async_chunk": False,
            "default_sampling_params": {"temperature": 0.0, "max_tokens": 16},
        },
        {
            **stage_entry(1, models.aura, max_num_seqs, max_model_len=8192),
            "async_chunk": False,
            "default_sampling_params": {
                "temperature": 0.7,
                "max_tokens": reply_tokens,
                "skip_special_tokens": False,  # <|silent|> is one of them, and must be seen
            },
        },
        *_speaking(2, models.tts, max_num_seqs, speech_tokens),
    ]
    memory = _memory(first_chunk_frames, chunk_frames)
    deploy = deploy_file("aura_omni", stages, memory)
    if max_sessions:
        deploy |= {"session_mode": "duplex", "duplex_session": {"max_sessions": max_sessions}}
    return write_deploy(path, deploy)


def write_speech_deploy(
    path: Path, tts: Path, *, max_num_seqs: int = 2, speech_tokens: int = 64, ends: bool = False
) -> Path:
    """Write the deploy file that runs Qwen3-TTS alone; see ``write_aura_deploy``.

    ``ends`` has speech end by itself, soon after 30 codec frames: half of all codes end it. Of a
    copied voice, vLLM-Omni's server takes speech that never ends for a failure.
    """
    stages = _speaking(0, tts, max_num_seqs, speech_tokens)
    if ends:
        ending = {"min_tokens": 30, "stop_token_ids": [*range(1024), 2150]}
        stages[0]["default_sampling_params"] |= ending
    stages[0]["subtalker_sampling_params"] = {"do_sample": True}  # each turn brings its seed
    return write_deploy(path, deploy_file("qwen3_tts", stages, _memory(4, 10)))


def _speaking(number: int, tts: Path, max_num_seqs: int, speech_tokens: int) -> list[_Part]:
    """The talker, as the stage of this number, and code2wav after it."""
    sampled = {"temperature": 0.9, "top_k": 50, "seed": 42}
    return [
        {
            **stage_entry(number, tts, max_num_seqs, max_model_len=4096),
            "dtype": "bfloat16",  # the talker copies between tensors of this type and its own
            "output_connectors": {f"to_stage_{number + 1}": "memory"},
            "default_sampling_params": sampled | {"max_tokens": speech_tokens, "min_tokens": 2},
            "subtalker_sampling_params": {"do_sample": False},  # it takes no seed from here
        },
        {
            **stage_entry(number + 1, tts, max_num_seqs, max_model_len=65_536),
            "input_connectors": {f"from_stage_{number}": "memory"},
            "default_sampling_params": {"temperature": 0.0, "max_tokens": 65_536},
        },
    ]


def _memory(first_chunk_frames: int, chunk_frames: int) -> _Part:
    return {
        "name": "SharedMemoryConnector",
        "extra": {
            "codec_streaming": True,
            "connector_get_sleep_s": 0.01,
            "connector_get_max_wait_first_chunk": 3000,
            "connector_get_max_wait": 300,
            "codec_chunk_frames": chunk_frames,
            "codec_left_context_frames": 72,
            "initial_codec_chunk_frames": first_chunk_frames,
        },
    }


def deploy_file(pipeline: str, stages: list[_Part], memory: _Part) -> _Part:
    """What a deploy file holds, with ``memory`` between the stages."""
    return {
        "pipeline": pipeline,
        "session_mode": "turn",
        "model_runner": "v1",
        "async_chunk": True,
        "dtype": "float32",
        "connectors": {"memory": memory},
        "stages": stages,
    }


def write_deploy(path: Path, deploy: _Part) -> Path:
    """Write ``deploy``, making folders as needed, and return ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(deploy, sort_keys=False), encoding="utf-8")
    return path


def stage_entry(number: int, model: Path, max_num_seqs: int, *, max_model_len: int) -> _Part:
    """One entry of ``stages``, as every stage here needs it."""
    return {
        "stage_id": number,
        "model": str(model),
        "devices": str(number),  # a lock of its own, so that all stages start at once
        "load_format": "random",
        "max_num_seqs": max_num_seqs,
        "max_model_len": max_model_len,
        "max_num_batched_tokens": max_model_len,
        "kv_cache_memory_bytes": 64 * MIB,
        "enforce_eager": True,
        "async_scheduling": False,
        "enable_prefix_caching": False,
        "skip_mm_profiling": True,
    }
