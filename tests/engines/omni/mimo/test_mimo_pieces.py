"""How much sound is made at a time is the deploy file's, or what is asked for at the start."""

from __future__ import annotations

import json

import pytest

from backend.engines.omni.doctor.deploy_file import read_deploy_file
from backend.engines.omni.launch import Launch
from backend.engines.omni.mimo.pieces import piece_s
from tests.engines.omni.mimo.scripted_omni import ScriptedOmni, pipeline

DEPLOY = {
    "pipeline": "mimo_audio",
    "connectors": {
        "speech": {"extra": {"codec_chunk_frames": 10, "codec_left_context_frames": 40}},
        "other": {"extra": {"shm": 1}},
    },
    "stages": [{"stage_id": 0, "model": "a"}, {"stage_id": 1, "model": "a"}],
}


@pytest.fixture
def deploy(tmp_path):
    path = tmp_path / "mimo.yaml"
    path.write_text(json.dumps(DEPLOY))
    return path


def launched(launch: Launch, folder) -> dict:
    return read_deploy_file(launch.deploy_file(folder))[0]


def test_other_pieces_are_laid_over_the_file_and_nothing_else_changes(deploy, tmp_path):
    made = launched(Launch(deploy, sound_groups=6), tmp_path)
    speech = made["connectors"]["speech"]["extra"]
    assert speech == {"codec_chunk_frames": 6, "codec_left_context_frames": 40}
    assert made["connectors"]["other"] == DEPLOY["connectors"]["other"]
    assert made["stages"] == DEPLOY["stages"]


def test_other_pieces_and_other_models_go_together(deploy, tmp_path):
    made = launched(Launch(deploy, models={0: "b"}, sound_groups=30), tmp_path)
    assert [stage["model"] for stage in made["stages"]] == ["b", "a"]
    assert made["connectors"]["speech"]["extra"]["codec_chunk_frames"] == 30


def test_the_file_itself_is_taken_where_nothing_is_asked_for(deploy, tmp_path):
    assert Launch(deploy).deploy_file(tmp_path) == deploy


@pytest.mark.parametrize(
    ("deploy", "groups", "seconds"),
    [
        (DEPLOY, 0, 1.6),
        (DEPLOY, 6, 0.96),
        ({**DEPLOY, "async_chunk": False}, 6, 0),
        ({**DEPLOY, "connectors": None}, 6, 0),
    ],
)
def test_the_length_of_a_piece_is_known(deploy, groups, seconds):
    assert piece_s(deploy, groups) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("seconds", "words"), [(1.6, "in pieces of 1.6 s"), (0.0, "when all of it is made")]
)
def test_people_are_told_when_sound_comes(seconds, words):
    assert words in pipeline(ScriptedOmni(), piece_s=seconds).describe().summary
