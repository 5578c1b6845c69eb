"""What the deploy files of MiMo-Audio say of its pieces of sound, and of who keeps to what."""

from __future__ import annotations

import re
from dataclasses import asdict

import pytest
import yaml

from backend.engines.omni.doctor.deploy_file import read_deploy_file
from backend.engines.omni.doctor.mimo_findings import TOKENIZER
from backend.engines.omni.doctor.profile import read_profile
from backend.engines.omni.doctor.tokenizer_copies import tokenizer_copies
from backend.engines.omni.mimo.specs import SPOKEN
from backend.engines.omni.mimo.tokens import GROUP_S
from tests.engines.omni.doctor_doubles import DEPLOY

FILES = sorted(DEPLOY.glob("mimo_*.yaml"))
each = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)

WOVEN = 5
"""Tokens of words, then groups of sound, in turns of five."""


def steps_to_groups(count: int) -> int:
    """Steps until the model has made this many groups, while it still has words to write."""
    return count + WOVEN * -(-count // WOVEN)


def test_the_table_of_pieces_is_right():
    text = (DEPLOY / "mimo_audio.yaml").read_text()
    extra = yaml.safe_load(text)["connectors"]["speech"]["extra"]
    rows = re.findall(r"#   (\d+) +([\d.]+) s +(\d+) steps +([\d.]+) x", text)
    assert [int(row[0]) for row in rows] == [6, 10, 30]
    assert extra["codec_chunk_frames"] in {6, 10}
    left = extra["codec_left_context_frames"]
    for groups, seconds, steps, work in rows:
        n = int(groups)
        assert float(seconds) == pytest.approx(n * GROUP_S)
        assert int(steps) == steps_to_groups(n)
        assert float(work) == pytest.approx((left + n) / n, abs=0.05)


@each
def test_a_piece_fits_into_the_stage_that_decodes_it(path):
    deploy, _ = read_deploy_file(path)
    extra = deploy["connectors"]["speech"]["extra"]
    groups = extra["codec_chunk_frames"] + extra["codec_left_context_frames"]
    frames, marks_and_codes = 4, 9
    assert groups * frames * marks_and_codes <= read_profile(path).stages[1].max_model_len
    assert groups * frames <= 256  # what the decoder has graphs for


@each
def test_speech_is_sampled_as_the_app_samples_it(path):
    deploy, _ = read_deploy_file(path)
    assert deploy["stages"][0]["default_sampling_params"] == asdict(SPOKEN)


@each
def test_the_app_finds_the_audio_tokenizer(path):
    assert read_profile(path).tokenizer == TOKENIZER


@pytest.mark.parametrize(
    ("name", "cards"),
    [
        ("mimo_audio", (0, None, 0)),
        ("mimo_audio_32gb", (None, None, 0)),
        ("mimo_audio_2gpu", (1, None, 1)),
    ],
)
def test_only_the_copy_that_works_and_the_apps_are_on_cards(name, cards):
    copies = tokenizer_copies(read_profile(DEPLOY / f"{name}.yaml"))
    assert [copy.holder for copy in copies] == ["the app", "stage 0", "stage 1"]
    assert tuple(copy.card for copy in copies) == cards
