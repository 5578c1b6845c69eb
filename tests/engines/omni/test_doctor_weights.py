"""Weights on disk: in the Hugging Face cache, in a folder, whole or in part."""

from __future__ import annotations

import json

import pytest

from backend.engines.omni.doctor.packages import read_packages
from backend.engines.omni.doctor.profile import read_profile
from backend.engines.omni.doctor.weight_findings import look_up_weights, weight_findings
from backend.engines.omni.doctor.weights import find_weights
from tests.engines.omni.doctor_doubles import DEPLOY, machine, put_model, write_sparse

TTS = "Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice"


@pytest.mark.parametrize(
    ("variable", "below"),
    [
        ("HF_HUB_CACHE", ""),
        ("HF_HOME", "hub"),
        ("XDG_CACHE_HOME", "huggingface/hub"),
        (None, ".cache/huggingface/hub"),
    ],
)
def test_the_cache_is_where_hugging_face_has_it(tmp_path, variable, below):
    put_model(tmp_path / below, "aurateam/AURA", 5000)
    environ = {variable: str(tmp_path)} if variable else {}
    found = find_weights("aurateam/AURA", machine(home=tmp_path, environ=environ))
    assert (found.complete, found.weights_bytes) == (True, 5000)
    assert not find_weights("aurateam/AURA", machine(home=tmp_path / "other")).complete


def test_missing_shards_and_dangling_links_are_found(tmp_path):
    folder = put_model(tmp_path, "aurateam/AURA")
    shards = {f"w{n}": f"model-0000{n}-of-00002.safetensors" for n in (1, 2)}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": shards}))
    write_sparse(folder / shards["w1"], 10)
    (folder / shards["w2"]).symlink_to(tmp_path / "blobs" / "nothing")
    found = find_weights("aurateam/AURA", machine(environ={"HF_HUB_CACHE": str(tmp_path)}))
    assert not found.complete
    assert found.lacking == (shards["w2"],)


def test_a_voice_model_is_whole_only_with_its_codec(tmp_path):
    put_model(tmp_path, TTS, 3000)
    here = machine(environ={"HF_HUB_CACHE": str(tmp_path)})
    assert find_weights(TTS, here).lacking == ("speech_tokenizer/*.safetensors",)
    put_model(tmp_path / "whole", TTS, 3000, codec=400)
    here = machine(environ={"HF_HUB_CACHE": str(tmp_path / "whole")})
    found = find_weights(TTS, here)
    assert (found.complete, found.weights_bytes, found.codec_bytes) == (True, 3000, 400)


def test_a_folder_is_looked_into(tmp_path):
    folder = put_model(tmp_path, "a/b", 7000)
    assert find_weights(str(folder), machine()).weights_bytes == 7000
    (folder / "config.json").unlink()
    assert find_weights(str(folder), machine()).lacking == ("config.json",)
    assert find_weights(str(tmp_path / "none"), machine()).folder is None


def test_the_newest_snapshot_counts_without_a_ref(tmp_path):
    folder = put_model(tmp_path, "a/b", 7000)
    (folder.parents[1] / "refs" / "main").unlink()
    assert find_weights("a/b", machine(environ={"HF_HUB_CACHE": str(tmp_path)})).complete
    (tmp_path / "models--c--d").mkdir()
    assert not find_weights("c/d", machine(environ={"HF_HUB_CACHE": str(tmp_path)})).complete


def test_offline_mode_is_lifted_for_the_download(tmp_path):
    here = machine(environ={"HF_HUB_OFFLINE": "1"}, home=tmp_path)
    profile = read_profile(DEPLOY / "aura_omni.yaml")
    found = list(weight_findings(profile, look_up_weights(profile, here), here))
    assert found[0].command == "HF_HUB_OFFLINE=0 hf download Qwen/Qwen3-ASR-1.7B"


def test_random_weights_need_no_files(tmp_path):
    path = tmp_path / "dummy.yaml"
    stages = ", ".join(f"{{stage_id: {number}, load_format: dummy}}" for number in range(4))
    path.write_text(f"base_config: {DEPLOY / 'aura_omni.yaml'}\nstages: [{stages}]")
    profile = read_profile(path)
    assert list(weight_findings(profile, look_up_weights(profile, machine()), machine())) == []


def test_a_stage_without_a_model_is_told(tmp_path):
    profile = read_profile(DEPLOY / "aura_omni.yaml").with_models({2: ""})
    found = look_up_weights(profile, machine())
    texts = [finding.text for finding in weight_findings(profile, found, machine())]
    assert "The deploy file names no model for stage 2." in texts


def test_packages_are_compared_by_their_exact_version(tmp_path):
    requirements = tmp_path / "requirements.txt"
    requirements.write_text(
        "# vllm==1\n-r other.txt\n./plugin\ntorch==2.13.0\nuvicorn[std]==1.0 ; x\n"
    )
    there = {"torch": "2.13.0+cu130", "uvicorn": "1.1"}
    torch, uvicorn = read_packages(requirements, machine(packages=there))
    assert (torch.fits, uvicorn.fits) == (True, False)
    assert (uvicorn.name, uvicorn.wanted, uvicorn.found) == ("uvicorn", "1.0", "1.1")
