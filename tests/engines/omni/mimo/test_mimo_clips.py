"""Clips that the model can hear, their length in tokens, and which can be woven with words."""

from __future__ import annotations

import numpy as np
import pytest

from backend.contract.errors import Field, TurnRefused
from backend.contract.media import AudioClip
from backend.engines.omni.mimo.clips import carries, check_clip, groups_of
from tests.engines.omni.mimo.sounds import RATE, clip


@pytest.mark.parametrize(
    ("samples", "rate", "code"),
    [
        (np.zeros(0, np.float32), RATE, "audio_empty"),
        (np.zeros((2, RATE), np.float32), RATE, "audio_format"),
        (np.zeros(RATE), RATE, "audio_format"),
        (np.full(RATE, np.nan, np.float32), RATE, "audio_not_finite"),
        (np.full(RATE, np.inf, np.float32), RATE, "audio_not_finite"),
        (np.zeros(16_000, np.float32), 16_000, "audio_rate"),
        (np.zeros(240, np.float32), RATE, "audio_too_short"),
        (np.zeros(2399, np.float32), RATE, "audio_too_short"),
    ],
)
def test_a_clip_that_the_audio_tokenizer_fails_on_is_refused(samples, rate, code):
    with pytest.raises(TurnRefused, match="clip of a voice") as refused:
        check_clip(AudioClip(samples, rate), "clip of a voice", Field.VOICE)
    assert (refused.value.code, refused.value.field) == (code, Field.VOICE)


def test_a_tenth_of_a_second_is_enough():
    shortest = clip(0.1)
    check_clip(shortest)
    assert groups_of(shortest) == 1


@pytest.mark.parametrize(
    ("seconds", "groups"), [(0.1, 1), (0.15, 1), (0.16, 2), (1.0, 7), (60.0, 376)]
)
def test_a_clip_has_a_group_more_than_its_whole_ones(seconds, groups):
    assert groups_of(clip(seconds)) == groups


def woven(text_tokens: int) -> int:
    """Groups between five words and the next, counted as they are laid."""
    laid = 0
    for word in range(1, text_tokens):
        if word % 5 == 0:
            laid += 5
    return laid


@pytest.mark.parametrize("text_tokens", range(1, 61))
def test_sound_carries_words_when_every_gap_between_five_of_them_can_be_filled(text_tokens):
    needed = woven(text_tokens)
    assert [groups for groups in range(70) if carries(groups, text_tokens)] == list(
        range(needed, 70)
    )


def test_no_words_need_no_sound():
    assert carries(0, 0)
