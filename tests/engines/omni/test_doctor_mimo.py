"""What MiMo-Audio needs of a machine, and what its deploy file must not say."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import yaml

from backend.engines.omni.doctor import examine
from backend.engines.omni.doctor.memory import fit_stage, kv_bytes_per_token
from backend.engines.omni.doctor.models import GIB, facts_of
from backend.engines.omni.doctor.profile import read_profile
from backend.engines.omni.doctor.tokenizer_copies import tokenizer_copies
from backend.engines.omni.doctor.weights import find_weights
from tests.engines.omni.doctor_doubles import DEPLOY, GB, H100, L4, machine, put_model, required
from tests.tiny_models import Size
from tests.tiny_models.mimo_sizes import MIMO_SIZES

MIMO = DEPLOY / "mimo_audio.yaml"
MODEL, TOKENIZER = "XiaomiMiMo/MiMo-Audio-7B-Instruct", "XiaomiMiMo/MiMo-Audio-Tokenizer"
RTX_5090 = "GPU-6, NVIDIA GeForce RTX 5090, 32607, 32000, 580.95.05, 12.0"
PACKAGES = required() | {"flash-attn": "2.8.3"}
THINK, SOUND = read_profile(MIMO).stages


@pytest.fixture
def cache(tmp_path):
    return tmp_path / ".cache" / "huggingface" / "hub"


@pytest.fixture
def both(cache):
    """The model and the audio tokenizer, in their sizes."""
    put_model(cache, MODEL, 16_040_000_000)
    return put_model(cache, TOKENIZER, 5_140_000_000)


def on_top(tmp_path, **changes):
    """A deploy file that changes some of ``mimo_audio.yaml``."""
    path = tmp_path / "deploy.yaml"
    path.write_text(yaml.safe_dump({"base_config": str(MIMO), **changes}))
    return path


def doubts(path):
    return "\n".join(read_profile(path).doubts)


def test_a_machine_with_everything_is_ready(tmp_path, both):
    report = examine(MIMO, machine=machine(H100, home=tmp_path, packages=PACKAGES))
    assert report.exit_code == 0, str(report)
    assert f"The audio tokenizer is on disk: {both} (5.1 GB)." in str(report)
    assert "the app on card 0, stage 0 on the CPU, stage 1 on card 0" in str(report)
    assert "Ready, for 1 session at once." in str(report)


def test_a_tokenizer_that_is_not_here_is_to_be_fetched(tmp_path, cache):
    put_model(cache, MODEL, 16 * GB)
    report = examine(MIMO, machine=machine(H100, home=tmp_path, packages=PACKAGES))
    assert report.exit_code == 1
    assert f"The audio tokenizer {TOKENIZER} is not on disk" in str(report)
    assert f"$ hf download {TOKENIZER}" in str(report)


def test_a_deploy_file_without_a_tokenizer_is_told_what_to_add(tmp_path, both):
    path = on_top(tmp_path, omni_live={})
    text = str(examine(path, machine=machine(H100, home=tmp_path, packages=PACKAGES)))
    assert f"Add it as omni_live: {{tokenizer: {TOKENIZER}}}" in text


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (None, "is not a folder of this machine"),
        ([], "is not complete: config.json, *.safetensors missing"),
        (["model.safetensors"], "is not complete: config.json missing"),
    ],
)
def test_a_folder_that_is_no_tokenizer_is_told(tmp_path, both, files, told):
    folder = tmp_path / "tokenizer"
    if files is not None:
        folder.mkdir()
        for name in files:
            (folder / name).write_text("some")
    here = machine(H100, home=tmp_path, packages=PACKAGES)
    text = str(examine(MIMO, tokenizer=str(folder), machine=here))
    assert f"The audio tokenizer {folder} {told}" in text
    assert f"--local-dir {folder}" in text


def test_another_tokenizer_can_be_put_in(tmp_path, both):
    here = machine(H100, home=tmp_path, packages=PACKAGES)
    assert examine(MIMO, tokenizer=str(both), machine=here).exit_code == 0


def test_flash_attention_is_needed_where_a_copy_is_on_a_card(tmp_path, both):
    here = machine(H100, home=tmp_path)
    text = str(examine(MIMO, machine=here))
    assert "may make noise without it" in text
    assert "$ uv pip install --python /env/bin/python --no-build-isolation flash-attn" in text
    on_cpu = {"tokenizer": TOKENIZER, "tokenizer_device": "cpu"}
    stages = [{"stage_id": 1, "env": {}}]
    path = on_top(tmp_path, omni_live=on_cpu, stages=stages)
    assert "flash-attn" not in str(examine(path, machine=here))


def test_other_pipelines_hear_nothing_of_it(tmp_path):
    report = examine(DEPLOY / "aura_omni.yaml", machine=machine(H100, home=tmp_path))
    assert "tokenizer" not in str(report)
    assert "flash-attn" not in str(report)


def test_a_stage_cannot_use_a_card_that_it_does_not_see(tmp_path, both):
    about = {"tokenizer": TOKENIZER, "tokenizer_device": "cuda:1"}
    path = on_top(tmp_path, omni_live=about, stages=[{"stage_id": 1, "env": {}}])
    text = str(examine(path, machine=machine(H100, H100, home=tmp_path, packages=PACKAGES)))
    assert "The copy in stage 1 is to run on cuda:1, but a stage sees its own cards alone" in text
    assert "copy in stage 0" not in text


@pytest.mark.parametrize("device", ["gpu", "cuda:x", "npu:0"])
def test_a_device_that_is_none_is_told(tmp_path, device):
    in_file = on_top(tmp_path, omni_live={"tokenizer_device": device})
    assert f"not {device}" in str(examine(in_file, machine=machine(H100)))
    env = {"MIMO_AUDIO_TOKENIZER_DEVICE": device}
    in_stage = on_top(tmp_path, stages=[{"stage_id": 0, "env": env}])
    assert examine(in_stage, machine=machine(H100)).exit_code == 2


def test_a_context_beyond_the_positions_of_the_model_is_told(tmp_path, cache, both):
    folder = find_weights(MODEL, machine(home=tmp_path)).folder
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": 8192}))
    path = on_top(
        tmp_path,
        stages=[{"stage_id": 0, "max_model_len": 16384, "max_num_batched_tokens": 16384}],
    )
    here = machine(H100, home=tmp_path, packages=PACKAGES)
    text = str(examine(path, machine=here))
    assert "16,384, more than the 8,192 positions of its model" in text
    assert "Lower it to 8192." in text
    assert "positions" not in str(examine(MIMO, machine=here))


@pytest.mark.parametrize(
    ("stage", "change", "told"),
    [
        (0, {"max_num_batched_tokens": 4096}, "put into the wrong places. Raise it to 8192."),
        (0, {"tensor_parallel_size": 2}, "tensor_parallel_size of stage 0 must be 1"),
        (0, {"enable_prefix_caching": True}, "enable_prefix_caching must be false on stage 0"),
        (0, {"enforce_eager": False}, "enforce_eager must be true on stage 0"),
        (0, {"max_num_seqs": 4}, "max_num_seqs of stage 0 must be 1"),
        (1, {"max_num_batched_tokens": 100}, "max_num_batched_tokens of stage 1"),
    ],
)
def test_what_makes_replies_wrong_without_a_word_is_told(tmp_path, stage, change, told):
    path = on_top(tmp_path, stages=[{"stage_id": stage, **change}])
    assert told in doubts(path)
    assert len(read_profile(path).doubts) == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"codec_chunk_frames": 2}, "codec_chunk_frames must be 3 or more; 2 counts as 10."),
        ({"codec_left_context_frames": 10}, "codec_left_context_frames must be 40 or more"),
        ({"codec_chunk_frames": 188}, "lower codec_chunk_frames to 187, or raise"),
        ({"codec_chunk_frames": 187}, ""),
    ],
)
def test_a_piece_of_sound_must_fit_into_the_last_stage(tmp_path, options, told):
    path = on_top(tmp_path, connectors={"speech": {"extra": options}})
    assert told in doubts(path)
    assert bool(doubts(path)) == bool(told)


def test_a_last_stage_too_short_for_any_piece_is_told_to_grow(tmp_path):
    lengths = {"max_model_len": 1024, "max_num_batched_tokens": 1024}
    path = on_top(tmp_path, stages=[{"stage_id": 1, **lengths}])
    assert "takes 1,024: raise its max_model_len" in doubts(path)


@pytest.mark.parametrize(
    ("length", "told"),
    [
        (8192, "a reply longer than 36.3 s ends stage 1. Raise its max_model_len and"),
        (18192, "replies are cut off after 80.8 s"),
        (65536, "replies are cut off after 80.8 s"),
    ],
)
def test_replies_handed_over_whole_have_a_longest(tmp_path, length, told):
    lengths = {"max_model_len": length, "max_num_batched_tokens": length}
    path = on_top(tmp_path, async_chunk=False, stages=[{"stage_id": 1, **lengths}])
    assert told in doubts(path)
    assert "a reply of words alone never ends" in doubts(path)


def test_the_model_takes_what_its_shapes_say():
    shapes = MIMO_SIZES[Size.FULL].model
    hidden, feed = shapes["hidden_size"], shapes["intermediate_size"]
    layers, words = shapes["num_hidden_layers"], 151_680
    kv = 128 * shapes["num_key_value_heads"]
    layer = 2 * hidden * hidden + 2 * hidden * kv + 3 * hidden * feed
    small = (16 + 6) * (4 * 1024**2 + 3 * 1024 * 4096)  # the two that read and write codes
    numbers = layers * layer + 3 * words * hidden + small + hidden * (hidden + 1024)
    facts = facts_of(THINK)
    assert (facts.hidden, facts.feed_forward, facts.layers) == (hidden, feed, layers)
    assert facts.weights_gib == pytest.approx(2 * numbers / GIB, rel=0.01)
    assert facts.download_gb == pytest.approx(2 * (numbers - words * hidden) / GB, rel=0.01)
    assert facts.linear_part == pytest.approx(layers * layer / numbers, abs=0.01)
    assert kv_bytes_per_token(THINK, facts) == 144 * 1024


def test_a_step_weighs_all_of_its_tokens_against_all_words():
    def working(tokens):
        stage = replace(THINK, max_num_batched_tokens=tokens)
        return fit_stage(stage, 80 * GIB).working_bytes

    assert working(8192) - working(4096) == 4096 * 2 * 2 * 151_680


def test_the_models_files_do_not_have_the_head_that_is_loaded_twice(tmp_path, both):
    found = find_weights(MODEL, machine(home=tmp_path))
    loaded = fit_stage(THINK, 80 * GIB, found).weights_bytes
    assert loaded == pytest.approx(facts_of(THINK).weights_gib * GIB, rel=0.01)
    assert fit_stage(SOUND, 80 * GIB, found).weights_bytes == int(2.4 * GIB)


def test_a_model_in_a_folder_counts_as_mimo_audio_too():
    mine = replace(THINK, model="/models/mine")
    assert facts_of(mine) == facts_of(THINK)
    assert facts_of(replace(SOUND, model="/models/mine")).codec_gib == 2.4


def test_sound_made_on_the_cpu_takes_next_to_nothing_of_the_card():
    fit = fit_stage(SOUND, 80 * GIB, decodes_on_card=False)
    assert (fit.weights_bytes, fit.turns, fit.problem) == (0, None, "")
    assert fit.working_bytes < GIB / 4


def test_without_a_word_on_devices_every_copy_is_on_the_card_of_its_process(tmp_path):
    stages = [{"stage_id": 0, "env": {}}, {"stage_id": 1, "env": {}, "devices": "1"}]
    copies = tokenizer_copies(read_profile(on_top(tmp_path, stages=stages)))
    assert [copy.card for copy in copies] == [0, 0, 1]
    assert copies[1].outside_bytes > 2.4 * GIB
    assert copies[0].outside_bytes > copies[1].outside_bytes  # the app's has a CUDA context too
    assert copies[2].outside_bytes == 0  # the last stage's share has it


@pytest.mark.parametrize(
    ("cards", "profile"),
    [([RTX_5090], "mimo_audio_32gb.yaml"), ([L4, L4], "mimo_audio_2gpu.yaml")],
)
def test_where_a_profile_does_not_fit_the_one_that_does_is_named(cards, profile):
    report = examine(MIMO, machine=machine(*cards))
    assert report.exit_code == 1
    assert f"{profile} fits, with room for 1 at once." in str(report)


def test_of_two_that_fit_the_one_with_the_longer_context_is_named(tmp_path, both):
    path = on_top(tmp_path, stages=[{"stage_id": 0, "gpu_memory_utilization": 0.1}])
    text = str(examine(path, machine=machine(H100, home=tmp_path)))
    assert "mimo_audio.yaml fits, with room for 1 at once." in text
