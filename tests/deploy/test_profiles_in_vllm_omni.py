"""vLLM-Omni's own loader reads the deploy files as they are meant. No engine is started."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest

from backend.engines.omni.doctor.profile import read_profile
from backend.engines.omni.launch import Launch
from tests.engines.omni.doctor_doubles import DEPLOY

pytestmark = [
    pytest.mark.omni,
    pytest.mark.skipif(find_spec("vllm_omni") is None, reason="vLLM-Omni is not installed"),
    pytest.mark.timeout(600),  # its imports alone can take minutes
]

FILES = sorted(DEPLOY.glob("aura_*.yaml"))
SMALL = {"aura_24gb", "aura_32gb"}


@pytest.fixture(scope="module", params=FILES, ids=lambda path: path.stem)
def path(request):
    return request.param


@pytest.fixture(scope="module")
def stages(path) -> list[Any]:
    return stages_of(path)


def stages_of(path) -> list[Any]:
    from vllm_omni.config.resolver import resolve_omni_config

    resolved = resolve_omni_config(
        "",
        trust_remote_code=None,
        deploy_config_path=str(path),
        cli_overrides={},
        stage_overrides=None,
        strategy_config_path=None,
    )
    return list(resolved.stage_configs)


def test_only_the_last_two_stages_hand_on_piece_by_piece(stages):
    pieces = [stage.connector_config.async_chunk for stage in stages]
    assert pieces == [False, False, True, True]
    assert stages[2].custom_process_next_stage_input_func.endswith("talker2code2wav_async_chunk")
    assert {stage.model_config.session_mode for stage in stages} == {"turn"}


def test_the_doctor_reads_what_vllm_omni_reads(path, stages):
    for plan, stage in zip(read_profile(path).stages, stages, strict=True):
        scheduler = stage.scheduler_config
        assert plan.model == stage.model_config.model
        assert ",".join(map(str, plan.devices)) == str(stage.runtime_config.devices)
        assert plan.share == stage.cache_config.gpu_memory_utilization
        assert plan.max_num_seqs == scheduler.max_num_seqs
        assert plan.max_num_batched_tokens == scheduler.max_num_batched_tokens
        assert plan.max_model_len == scheduler.max_model_len
        assert plan.quantization == stage.quantization_config


def test_the_sampling_parameters_arrive(stages):
    hear, think, speak, sound = (stage.model_config.default_sampling_params for stage in stages)
    assert (hear["temperature"], hear["max_tokens"]) == (0.0, 256)
    assert (think["temperature"], think["max_tokens"]) == (0.5, 256)
    assert (think["stop_token_ids"], think["skip_special_tokens"]) == ([151669], False)
    assert (speak["temperature"], speak["top_k"], speak["max_tokens"]) == (0.9, 50, 4096)
    assert (speak["stop_token_ids"], speak["repetition_penalty"]) == ([2150], 1.05)
    assert sound["max_tokens"] == 65_536
    assert stages[2].model_config.subtalker_sampling_params["top_k"] == 50


def test_the_codec_options_reach_both_ends(path):
    assert codec_options(path, 2) == [CODEC_OPTIONS] * 2


CODEC_OPTIONS = ("SharedMemoryConnector", [4, 8, 16, 25], 72)


def codec_options(path, talker: int) -> list[tuple]:
    """What the talker and the stage behind it are told: connector, growing chunks, left context."""
    from vllm_omni.config.stage_config import resolve_deploy_yaml
    from vllm_omni.distributed.omni_connectors import load_omni_transfer_config
    from vllm_omni.engine.stage_init_utils import get_stage_connector_spec
    from vllm_omni.model_executor.stage_input_processors.chunk_size_utils import parse_chunk_ramp

    transfer = load_omni_transfer_config(config_dict=resolve_deploy_yaml(path))
    if talker:
        assert get_stage_connector_spec(transfer, talker - 1, async_chunk=False) == {}
    found = []
    for stage in (talker, talker + 1):
        spec = get_stage_connector_spec(transfer, stage, async_chunk=True)
        extra = spec["extra"]
        ramp = parse_chunk_ramp(extra, steady=extra["codec_chunk_frames"])
        found.append((spec["name"], ramp, extra["codec_left_context_frames"]))
    return found


def test_caches_graphs_and_trust_are_as_meant(path, stages):
    caching = [stage.cache_config.enable_prefix_caching for stage in stages]
    assert caching == [False, True, False, False]
    assert [stage.model_config.trust_remote_code for stage in stages] == [False, True, False, False]
    for stage in stages[:3]:
        graphs = stage.compilation_config
        assert (graphs.mode, graphs.cudagraph_mode.name) == (0, "FULL_DECODE_ONLY")
        assert max(graphs.cudagraph_capture_sizes) == stage.scheduler_config.max_num_seqs
    small = path.stem in SMALL
    assert [stage.quantization_config for stage in stages] == [
        None,
        "fp8" if small else None,
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("name", "ramp"), [("qwen3_tts", [4, 8, 16, 25]), ("qwen3_tts_80gb", [1, 2, 4, 8, 16, 25])]
)
def test_the_files_of_the_voice_alone_are_read_as_they_are_meant(name, ramp):
    path = DEPLOY / f"{name}.yaml"
    speak, sound = stages = stages_of(path)
    test_the_doctor_reads_what_vllm_omni_reads(path, stages)
    assert all(stage.connector_config.async_chunk for stage in stages)
    assert speak.custom_process_next_stage_input_func.endswith("talker2code2wav_async_chunk")
    assert {stage.model_config.session_mode for stage in stages} == {"turn"}
    sampled = speak.model_config.default_sampling_params
    assert (sampled["max_tokens"], sampled["min_tokens"]) == (4096, 2)
    assert sampled["stop_token_ids"] == [2150]
    assert sound.model_config.default_sampling_params["max_tokens"] == 65_536
    graphs = speak.compilation_config
    assert (graphs.mode, graphs.cudagraph_mode.name) == (0, "FULL_DECODE_ONLY")
    assert max(graphs.cudagraph_capture_sizes) == speak.scheduler_config.max_num_seqs
    assert codec_options(path, 0) == [("SharedMemoryConnector", ramp, 72)] * 2


@pytest.mark.parametrize("name", ["qwen3_tts", "qwen3_tts_80gb"])
def test_other_models_reach_both_stages_of_the_voice_alone_and_change_nothing_else(name, tmp_path):
    path = DEPLOY / f"{name}.yaml"
    launch = Launch(path, models={0: "my/voice", 1: "my/voice"})
    own, other = stages_of(path), stages_of(launch.deploy_file(tmp_path))
    assert [stage.model_config.model for stage in other] == ["my/voice", "my/voice"]
    assert codec_options(launch.deploy_file(tmp_path), 0) == codec_options(path, 0)
    for before, after in zip(own, other, strict=True):
        assert before.model_config.model != "my/voice"
        for part in ("scheduler_config", "cache_config", "compilation_config", "connector_config"):
            assert getattr(before, part) == getattr(after, part)


def test_the_servers_file_is_for_live_sessions_on_the_same_stages():
    from vllm_omni.config.stage_config import resolve_deploy_yaml

    own = {"session_mode", "duplex_session"}
    base, server = (
        resolve_deploy_yaml(DEPLOY / f"{name}_80gb.yaml") for name in ("aura", "server")
    )
    assert {key for key in base | server if base.get(key) != server.get(key)} == own
    assert server["session_mode"] == "duplex"
    assert server["duplex_session"] == {"max_sessions": 8}
