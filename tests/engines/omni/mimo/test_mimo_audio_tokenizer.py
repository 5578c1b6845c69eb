"""The audio tokenizer is found before the stages start, and they are told where it is."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from backend.engines.failures import ModelMissing
from backend.engines.omni.mimo import audio_tokenizer
from backend.engines.omni.mimo.audio_tokenizer import DEVICE, PATH, find, forget, set_up


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    return tmp_path


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """What is set here does not outlast the test."""
    monkeypatch.setenv(PATH, "")
    monkeypatch.setenv(DEVICE, "cuda:3")


def test_the_stages_are_told_of_the_folder_and_the_device(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    set_up(folder.name, "cpu")
    assert Path(os.environ[PATH]) == folder
    assert os.environ[DEVICE] == "cpu"


def test_a_device_of_an_earlier_pipeline_is_forgotten(folder):
    set_up(str(folder))
    assert DEVICE not in os.environ


def test_a_hub_name_is_fetched_first(folder, monkeypatch):
    monkeypatch.setattr(audio_tokenizer, "snapshot", lambda name: folder / name.split("/")[0])
    (folder / "owner").mkdir()
    (folder / "owner" / "config.json").write_text("{}")
    assert find("owner/name") == folder / "owner"


@pytest.mark.parametrize("name", ["", "/nowhere/at/all", "./nowhere"])
def test_what_is_not_there_is_told(name, folder):
    with pytest.raises(ModelMissing, match=r"tokenizer"):
        find(name)


def test_a_folder_without_a_tokenizer_is_told(tmp_path):
    with pytest.raises(ModelMissing, match=r"no config\.json"):
        find(str(tmp_path))


def test_what_this_process_has_of_it_is_freed_for_the_next_pipeline(monkeypatch):
    done = []
    worker = SimpleNamespace(audio_tokenizer=SimpleNamespace(to=done.append))
    module = SimpleNamespace(_TOKENIZER_WORKER_CACHE={"folder": worker})
    cuda = SimpleNamespace(is_initialized=lambda: True, empty_cache=lambda: done.append("emptied"))
    name = "vllm_omni.model_executor.models.mimo_audio.mimo_audio_code2wav"
    monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    forget()
    assert done == ["meta", "emptied"]
    assert module._TOKENIZER_WORKER_CACHE == {}
