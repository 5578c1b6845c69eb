"""Long recordings in pieces, and recordings without sound."""

from __future__ import annotations

import numpy as np
import pytest

from backend.contract.media import AudioClip
from backend.media.pauses import is_quiet, pieces

RATE = 16000


def speech(seconds: float, pauses: tuple[float, ...] = ()) -> AudioClip:
    samples = np.random.default_rng(1).normal(0, 0.1, int(seconds * RATE)).astype(np.float32)
    for at in pauses:
        samples[int((at - 0.2) * RATE) : int((at + 0.2) * RATE)] = 0
    return AudioClip(samples, RATE)


def test_a_short_recording_is_one_piece():
    clip = speech(30.0)
    assert [part.duration_s for part in pieces(clip)] == [30.0]


@pytest.mark.parametrize("seconds", [31.0, 62.0, 300.0])
def test_nothing_of_a_long_recording_is_lost(seconds):
    clip = speech(seconds)
    parts = pieces(clip)
    assert all(0 < part.duration_s <= 30.0 for part in parts)
    assert np.array_equal(np.concatenate([part.samples for part in parts]), clip.samples)


def test_cuts_lie_in_pauses():
    parts = pieces(speech(70.0, pauses=(24.0, 50.0)))
    ends = np.cumsum([part.duration_s for part in parts])
    assert ends[0] == pytest.approx(24.0, abs=0.15)
    assert ends[1] == pytest.approx(50.0, abs=0.15)


@pytest.mark.parametrize("length", [1, 100, RATE, RATE * 5])
def test_silence_and_faint_noise_are_quiet(length):
    faint = np.random.default_rng(2).normal(0, 10 ** (-60 / 20), length).astype(np.float32)
    assert is_quiet(AudioClip(np.zeros(length, np.float32), RATE))
    assert is_quiet(AudioClip(faint, RATE))


def test_one_short_word_in_a_silent_recording_is_not_quiet():
    samples = np.zeros(RATE * 9, np.float32)
    samples[RATE * 4 : RATE * 4 + RATE * 3 // 10] = speech(0.3).samples
    assert not is_quiet(AudioClip(samples, RATE))
