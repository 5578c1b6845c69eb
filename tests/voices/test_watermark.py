"""Speech that was made carries a mark, and nothing else about it changes."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import soxr

from backend.voices import watermark
from backend.voices.measures import level_db
from backend.voices.speaker import load_encoder
from backend.voices.watermark import installed, watermarked
from tests.realtime.sounds import RATE
from tests.voices.recordings import at_level, question

RATES = (16_000, 22_050, 24_000, 48_000)


def at_rate(rate):
    return soxr.resample(question(1), RATE, rate)


def share_of_change(before, after):
    return np.sum((after - before) ** 2) / np.sum(before**2)


@pytest.mark.parametrize("rate", RATES)
def test_a_marked_sound_is_as_long_and_as_loud(rate):
    before = at_rate(rate)
    after = watermarked(before, rate)
    assert (after.shape, after.dtype) == (before.shape, np.float32)
    assert level_db(after) == pytest.approx(level_db(before), abs=0.1)
    assert 0.01 < share_of_change(before, after) < 0.04


def test_only_low_frequencies_change():
    before = at_rate(24_000)
    change = np.square(np.abs(np.fft.rfft(watermarked(before, 24_000) - before)))
    above = np.fft.rfftfreq(len(before), 1 / 24_000) > 2100
    assert change[above].sum() < 1e-4 * change.sum()


def test_a_marked_voice_is_still_the_same_speaker():
    before, encoder = question(), load_encoder()
    assert encoder.embed(before) @ encoder.embed(watermarked(before, RATE)) > 0.95


def test_the_mark_is_as_strong_in_quiet_speech():
    shares = []
    for decibels in (-20, -60):
        before = at_level(question(1), decibels)
        shares.append(share_of_change(before, watermarked(before, RATE)))
    assert shares[1] == pytest.approx(shares[0], rel=0.5)


@pytest.mark.parametrize("length", [0, 1, 1000])
def test_scraps_come_back_as_they_are(length):
    scrap = question(1)[RATE : RATE + length]
    assert np.array_equal(watermarked(scrap, RATE), scrap)


def test_silence_stays_silence():
    silence = np.zeros(RATE, np.float32)
    assert np.array_equal(watermarked(silence, RATE), silence)


def test_a_loud_sound_stays_within_full_scale():
    loud = question(1) / np.abs(question(1)).max()
    assert np.abs(watermarked(loud, RATE)).max() <= 1.0


def test_a_long_sound_is_marked_as_if_in_one_piece(monkeypatch):
    sound = question(2)
    whole = watermarked(sound, RATE)
    monkeypatch.setattr(watermark, "_BLOCK", 70)
    assert np.allclose(watermarked(sound, RATE), whole, atol=1e-5)


def test_threads_share_it():
    sound = question(1)
    expected, results = watermarked(sound, RATE), []
    threads = [
        threading.Thread(target=lambda: results.append(watermarked(sound, RATE))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(np.array_equal(result, expected) for result in results)


def test_without_the_package_a_sound_comes_back_as_it_is(monkeypatch):
    assert installed()
    monkeypatch.setattr(watermark, "find_spec", lambda name: None)
    assert not installed()
    assert np.array_equal(watermarked(question(1), RATE), question(1))
