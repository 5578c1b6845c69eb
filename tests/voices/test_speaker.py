"""Speakers are told apart by their voice, whatever they say and however loud."""

from __future__ import annotations

import numpy as np
import pytest

from backend.engines.failures import ModelMissing
from backend.voices import speaker
from backend.voices.speaker import MOST_WINDOWS, load_encoder, window_starts
from backend.voices.speakers import check_speakers
from tests.realtime.sounds import RATE
from tests.voices.recordings import another_voice, at_level, question, spoken


def test_an_embedding_is_a_direction():
    embedding = load_encoder().embed(spoken(question()))
    assert embedding.shape == (256,)
    assert embedding.dtype == np.float32
    assert np.linalg.norm(embedding) == pytest.approx(1.0, abs=1e-5)


def test_loudness_makes_no_difference():
    encoder, sound = load_encoder(), spoken(question())
    assert encoder.embed(sound) @ encoder.embed(at_level(sound, -60)) > 0.999


def test_a_smaller_speaker_is_another_one():
    encoder, sound = load_encoder(), spoken(question())
    half = len(sound) // 2
    same = encoder.embed(sound[:half]) @ encoder.embed(sound[half // 2 :])
    other = encoder.embed(sound[:half]) @ encoder.embed(another_voice(sound[half // 2 :]))
    assert same > 0.85
    assert other < same - 0.15


@pytest.mark.parametrize("length", [0, 1, 400, RATE])
def test_silence_and_scraps_give_finite_numbers(length):
    windows = load_encoder().embed_windows(np.zeros(length, np.float32))
    assert windows.shape == (1, 256)
    assert np.isfinite(windows).all()


@pytest.mark.parametrize(
    ("seconds", "starts"),
    [(0.3, [0]), (1.6, [0]), (2.0, [0, 77]), (1.9, [0]), (3.2, [0, 77, 154])],
)
def test_windows_cover_the_speech(seconds, starts):
    assert window_starts(round(seconds * RATE)) == starts


def test_a_long_speech_costs_no_more_than_a_short_one():
    starts = window_starts(600 * RATE)
    assert len(starts) == MOST_WINDOWS
    assert starts[-1] > 0.99 * (600 * 100 - 160)


def test_without_the_weights_the_package_is_named(monkeypatch):
    monkeypatch.setattr(speaker, "find_spec", lambda name: None)
    with pytest.raises(ModelMissing, match="resemblyzer"):
        load_encoder.__wrapped__()


def test_one_voice_throughout_is_one_speaker():
    (finding,) = check_speakers(load_encoder().embed_windows(spoken(question(3))))
    assert finding.code == "one_speaker"


def test_two_who_take_turns_are_two_speakers():
    sound = spoken(question())
    turns = np.concatenate((sound, another_voice(sound), sound))
    (finding,) = check_speakers(load_encoder().embed_windows(turns))
    assert finding.code == "several_speakers"


def test_of_a_word_nobody_can_tell():
    assert check_speakers(load_encoder().embed_windows(spoken(question(1))[:RATE])) == []
