"""Reference clips as people send them, made from the sample question; float32 mono at 16 kHz."""

from __future__ import annotations

import numpy as np
import soxr

from backend.contract.media import AudioClip
from backend.voices.activity import find_speech
from backend.voices.measures import level_db
from tests.realtime.sounds import RATE, pause, speech

QUESTION = "What is the largest ocean on Earth?"


def clip(samples: np.ndarray) -> AudioClip:
    """A clip at 16 kHz."""
    return AudioClip(samples.astype(np.float32), RATE)


def question(times: int = 2) -> np.ndarray:
    """The sample question, asked again and again: 2 s of speech in each 3 s."""
    return np.tile(speech(), times)


def another_voice(samples: np.ndarray, higher: float = 1.35) -> np.ndarray:
    """A smaller speaker: pitch and formants are higher, and so is the pace."""
    return soxr.resample(samples, RATE * higher, RATE).astype(np.float32)


def at_level(samples: np.ndarray, decibels: float) -> np.ndarray:
    """The same at another root mean square, in dB of full scale."""
    return (samples * 10 ** ((decibels - level_db(samples)) / 20)).astype(np.float32)


def in_noise(samples: np.ndarray, ratio_db: float) -> np.ndarray:
    """Speech ``ratio_db`` above white noise."""
    power = 10 ** ((level_db(find_speech(clip(samples)).speech) - ratio_db) / 10)
    noise = np.random.default_rng(4).normal(0, np.sqrt(power), len(samples))
    return (samples + noise).astype(np.float32)


def cut_off(samples: np.ndarray, share: float) -> np.ndarray:
    """Recorded too loud: all above a share of the peak is cut off flat."""
    most = share * np.abs(samples).max()
    return np.clip(samples, -most, most)


def through_a_telephone(samples: np.ndarray) -> np.ndarray:
    """Sampled at 8 kHz on the way."""
    return soxr.resample(soxr.resample(samples, RATE, RATE // 2), RATE // 2, RATE)


def blip_in_zeros() -> np.ndarray:
    """0.3 s of speech in 9 s of digital silence."""
    sound = np.zeros(9 * RATE, np.float32)
    spoken = find_speech(clip(speech())).speech[: int(0.3 * RATE)]
    sound[RATE : RATE + len(spoken)] = spoken
    return sound


def quiet_room(seconds: float) -> np.ndarray:
    """Nobody speaks."""
    return pause(seconds)


def spoken(samples: np.ndarray) -> np.ndarray:
    """The speech of a recording without its pauses."""
    return find_speech(clip(samples)).speech
