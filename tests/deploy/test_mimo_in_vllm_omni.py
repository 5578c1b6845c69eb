"""vLLM-Omni's own loader reads the deploy files of MiMo-Audio as they are meant."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from backend.engines.omni.doctor.profile import read_profile
from tests.deploy.test_profiles_in_vllm_omni import (
    stages_of,
)
from tests.deploy.test_profiles_in_vllm_omni import (
    test_the_doctor_reads_what_vllm_omni_reads as the_doctor_reads_the_same,
)
from tests.engines.omni.doctor_doubles import DEPLOY

pytestmark = [
    pytest.mark.omni,
    pytest.mark.skipif(find_spec("vllm_omni") is None, reason="vLLM-Omni is not installed"),
    pytest.mark.timeout(600),  # its imports alone can take minutes
]

FILES = sorted(DEPLOY.glob("mimo_*.yaml"))


@pytest.fixture(scope="module", params=FILES, ids=lambda path: path.stem)
def path(request):
    return request.param


@pytest.fixture(scope="module")
def stages(path):
    return stages_of(path)


def test_the_doctor_reads_what_vllm_omni_reads(path, stages):
    the_doctor_reads_the_same(path, stages)


def test_sound_is_handed_on_piece_by_piece(path, stages):
    from vllm_omni.config.stage_config import resolve_deploy_yaml
    from vllm_omni.distributed.omni_connectors import load_omni_transfer_config
    from vllm_omni.engine.stage_init_utils import get_stage_connector_spec

    think, sound = stages
    assert think.connector_config.async_chunk
    assert sound.connector_config.async_chunk
    assert think.custom_process_next_stage_input_func.endswith("llm2code2wav_async_chunk")
    transfer = load_omni_transfer_config(config_dict=resolve_deploy_yaml(path))
    for stage in (0, 1):
        spec = get_stage_connector_spec(transfer, stage, async_chunk=True)
        extra = spec["extra"]
        assert spec["name"] == "SharedMemoryConnector"
        assert (extra["codec_chunk_frames"], extra["codec_left_context_frames"]) == (10, 40)


def test_each_process_is_told_where_its_copy_of_the_tokenizer_goes(path, stages):
    plans = read_profile(path).stages
    for stage, plan in zip(stages, plans, strict=True):
        told = {"MIMO_AUDIO_TOKENIZER_DEVICE": plan.tokenizer_device}
        assert stage.runtime_config.env == told


def test_prompts_are_read_in_one_step_and_nothing_is_taken_from_another(stages):
    for stage in stages:
        scheduler = stage.scheduler_config
        assert scheduler.max_num_seqs == 1
        assert scheduler.max_num_batched_tokens >= scheduler.max_model_len
        assert stage.cache_config.enable_prefix_caching is False
        assert stage.model_config.enforce_eager is True
        assert stage.model_config.dtype == "bfloat16"


def test_speech_is_greedy_and_ends_where_the_pipeline_says(stages):
    think, sound = (stage.model_config.default_sampling_params for stage in stages)
    assert (think["temperature"], think["repetition_penalty"]) == (0.0, 1.1)
    assert think["stop_token_ids"] == [151671, 151645]
    assert (sound["temperature"], sound["max_tokens"]) == (0.0, 18_192)


def test_the_consumer_card_gets_the_attention_that_works_on_it(path, stages):
    for stage in stages:
        chosen = (
            stage.model_config.attention_backend,
            stage.model_config.enable_flashinfer_autotune,
        )
        assert chosen == (("TRITON_ATTN", False) if path.stem.endswith("32gb") else (None, None))
