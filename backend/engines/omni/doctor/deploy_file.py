"""Reading a vLLM-Omni deploy file without vLLM-Omni."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

_TOP_WORDS = """
active_stream_window async_chunk base_config connectors custom_voice_dir data_parallel_size
distributed_executor_backend dtype duplex_session edges enable_chunked_prefill
enable_prefix_caching model_runner omni_live pipeline pipeline_parallel_size platforms
quantization session_mode stages trust_remote_code
"""
_STAGE_WORDS = """
async_chunk async_scheduling attention_backend block_size compilation_config cpu_offload_gb
default_sampling_params devices disable_hybrid_kv_cache_manager dtype enable_chunked_prefill
enable_flashinfer_autotune enable_prefix_caching enforce_eager env gpu_memory_utilization
hf_overrides input_connectors kv_cache_dtype kv_cache_memory_bytes limit_mm_per_prompt load_format
long_prefill_token_threshold max_model_len max_num_batched_tokens max_num_seqs
mm_processor_cache_gb mm_processor_kwargs model num_replicas output_connectors profiler_config
quantization quantization_config revision scheduling_policy seed silence_ban_frames
skip_mm_profiling stage_id subtalker_sampling_params tensor_parallel_size tokenizer tokenizer_mode
trust_remote_code worker_cls
"""
_TOP_KEYS = frozenset(_TOP_WORDS.split())
_STAGE_KEYS = frozenset(_STAGE_WORDS.split())
_MERGED_STAGE_KEYS = frozenset({"default_sampling_params", "subtalker_sampling_params"})
_MAX_BASES = 8
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C one is ten times as fast


class ProfileProblem(Exception):  # noqa: N818 - reads as what it is
    """A deploy file that cannot be used, with the reason in plain words."""


def read_deploy_file(path: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Read a deploy file and lay it over its ``base_config``, as vLLM-Omni does.

    Returns:
        The merged file, and what in it looks misspelt, in plain words.

    Raises:
        ProfileProblem: A file is missing or cannot be read.
    """
    files = [_load(path)]
    while base := files[-1].get("base_config"):
        if len(files) > _MAX_BASES:
            raise ProfileProblem(f"{path} builds on itself (base_config).")
        path = path.parent / str(base)
        files.append(_load(path))
    doubts = tuple(dict.fromkeys(doubt for file in files for doubt in _doubts(file)))
    merged: dict[str, Any] = {}
    for file in reversed(files):
        merged = _over(merged, file)
    return merged, doubts


def _load(path: Path) -> dict[str, Any]:
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)  # noqa: S506 - safe
    except FileNotFoundError:
        raise ProfileProblem(f"There is no file {path}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileProblem(f"{path} cannot be read: {error}.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "not YAML"
        raise ProfileProblem(f"{path} is not valid YAML{where}: {problem}.") from None
    if not isinstance(content, dict):
        raise ProfileProblem(f"{path} is not a deploy file: it has no keys.")
    stages = content.get("stages", [])
    if not isinstance(stages, list) or not all(map(_is_stage, stages)):
        raise ProfileProblem(f"In {path}, stages must be a list, each with a stage_id.")
    return content


def _is_stage(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("stage_id"), int)


def _over(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    stages = {stage["stage_id"]: stage for stage in base.get("stages", [])}
    for stage in top.get("stages", []):
        before = stages.get(stage["stage_id"], {})
        deep = {k: _deep(before.get(k), stage[k]) for k in stage.keys() & _MERGED_STAGE_KEYS}
        stages[stage["stage_id"]] = {**before, **stage, **deep}
    connectors = _deep(base.get("connectors"), top.get("connectors"))
    return {**base, **top, "connectors": connectors, "stages": list(stages.values())}


def _deep(base: Any, top: Any) -> Any:
    if isinstance(base, dict) and isinstance(top, dict):
        return base | {key: _deep(base.get(key), value) for key, value in top.items()}
    return base if top is None else top


def _doubts(file: Mapping[str, Any]) -> list[str]:
    doubts = [_doubt(key, _TOP_KEYS, "at the top") for key in file.keys() - _TOP_KEYS]
    for stage in file.get("stages", []):
        where = f"on stage {stage['stage_id']}"
        doubts += [_doubt(key, _STAGE_KEYS, where) for key in stage.keys() - _STAGE_KEYS]
    return sorted(doubts)


def _doubt(key: object, known: frozenset[str], where: str) -> str:
    near = get_close_matches(str(key), known, n=1, cutoff=0.8)
    hint = f"did you mean {near[0]}?" if near else "vLLM may know it, or pass over it."
    return f"The doctor does not know the key {key} {where}; {hint}"
