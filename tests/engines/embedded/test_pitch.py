"""A voice gets higher or lower, and speaks as long as before."""

from __future__ import annotations

import numpy as np
import pytest

from backend.engines.embedded.models import find_voice
from backend.engines.embedded.pitch import at_pitch
from backend.engines.embedded.stages import StopSignal
from backend.engines.embedded.voice import PiperSpeaker

RATE = 22_050
TEXT = "Seven people walked slowly across the wide field, and nobody said a word."


def hum(seconds=2.0, hz=200.0):
    """One tone, in pieces."""
    time = np.arange(int(seconds * RATE)) / RATE
    yield from np.array_split((0.5 * np.sin(2 * np.pi * hz * time)).astype(np.float32), 7)


def fundamental_hz(sound, rate, lowest=50.0, highest=300.0):
    """Median over the voiced frames of the pitch at which a frame is most like itself.

    What the window takes from the likeness at long lags is given back, after Boersma 1993.
    """
    size, found = int(0.08 * rate), []
    lags = slice(int(rate / highest), int(rate / lowest))
    window = np.hanning(size)
    for start in range(0, len(sound) - size, size // 4):
        frame = sound[start : start + size] - sound[start : start + size].mean()
        likeness = likeness_of(frame * window) / likeness_of(window)
        best = int(likeness[lags].argmax())
        if frame.std() > 0.02 and likeness[lags][best] > 0.6:
            found.append(rate / (lags.start + best))
    return float(np.median(found))


def likeness_of(frame):
    """Autocorrelation, 1 at lag 0."""
    likeness = np.fft.irfft(np.abs(np.fft.rfft(frame, 2 * len(frame))) ** 2)
    return likeness / likeness[0]


def test_at_0_semitones_every_sample_is_as_it_was():
    before = list(hum())
    after = list(at_pitch(iter(before), 0.0, RATE))
    assert all(one is other for one, other in zip(after, before, strict=True))


@pytest.mark.parametrize("semitones", [-6, -2.5, 3, 6])
def test_a_tone_moves_by_so_many_semitones_and_stays_as_long_and_as_loud(semitones):
    pieces = list(at_pitch(hum(), semitones, RATE))
    sound = np.concatenate(pieces)
    assert all(piece.size and piece.dtype == np.float32 for piece in pieces)
    assert len(sound) / RATE == pytest.approx(2.0, abs=0.05)
    spectrum = np.abs(np.fft.rfft(sound * np.hanning(len(sound)), 8 * len(sound)))
    heard = np.fft.rfftfreq(8 * len(sound), 1 / RATE)[spectrum.argmax()]
    assert heard == pytest.approx(200 * 2 ** (semitones / 12), rel=0.01)
    assert np.abs(sound).max() == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("semitones", [-6, 6])
def test_sound_comes_with_the_first_piece(semitones):
    made = []

    def slowly():
        for piece in hum():
            made.append(piece)
            yield piece

    assert next(at_pitch(slowly(), semitones, RATE)).size > 0
    assert len(made) == 1


@pytest.mark.parametrize("pieces", [[], [1], [500]])
def test_scraps_and_nothing_at_all_do_no_harm(pieces):
    sound = list(at_pitch((np.zeros(length, np.float32) for length in pieces), 5, RATE))
    assert sum(map(len, sound)) <= sum(pieces) + RATE // 10


@pytest.fixture(scope="module")
def piper():
    """The real voice, which draws lengths and intonation at random, without its chance."""
    voice = PiperSpeaker(lambda: find_voice(None))
    voice.load()
    voice._voice.config.noise_scale = voice._voice.config.noise_w_scale = 0.0
    yield voice
    voice.close()


def spoken(voice, pitch):
    return np.concatenate(list(voice.speak(TEXT, 1.0, StopSignal(), pitch)))


@pytest.mark.embedded
@pytest.mark.parametrize("semitones", [-6, -3, 3, 6])
def test_the_real_voice_moves_by_so_many_semitones_and_stays_as_long(piper, semitones):
    before, after = spoken(piper, 0.0), spoken(piper, semitones)
    ratio = fundamental_hz(after, RATE) / fundamental_hz(before, RATE)
    assert ratio == pytest.approx(2 ** (semitones / 12), rel=0.03)
    assert len(after) == pytest.approx(len(before), rel=0.02)
    assert after.std() == pytest.approx(before.std(), rel=0.1)
