"""Float sound becomes PCM16 in one way."""

from __future__ import annotations

import io

import numpy as np
import soundfile

from backend.conversation.pcm import to_pcm16, to_wav


def decoded(pcm16: bytes) -> np.ndarray:
    return np.frombuffer(pcm16, "<i2")


def test_full_scale_is_used_and_more_is_clipped():
    samples = np.array([0.0, 1.0, -1.0, 2.0, -2.0, 0.5], np.float32)
    assert decoded(to_pcm16(samples)).tolist() == [0, 32767, -32767, 32767, -32767, 16384]


def test_samples_that_are_no_numbers_become_silence():
    assert decoded(to_pcm16(np.array([np.nan, np.inf, -np.inf], np.float32))).tolist() == [0, 0, 0]


def test_pieces_joined_are_the_whole():
    samples = np.random.default_rng(1).uniform(-1, 1, 1000).astype(np.float32)
    assert b"".join(map(to_pcm16, np.array_split(samples, 7))) == to_pcm16(samples)


def test_a_wav_holds_exactly_the_samples():
    pcm16 = to_pcm16(np.linspace(-1, 1, 480, dtype=np.float32))
    samples, rate = soundfile.read(io.BytesIO(to_wav(pcm16, 22_050)), dtype="int16")
    assert rate == 22_050
    assert samples.tobytes() == pcm16
