"""What a microphone may hear, float32 mono at 16 kHz."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile
import soxr

RATE = 16_000
QUESTION = Path(__file__).parents[2] / "assets" / "question.wav"


def speech() -> np.ndarray:
    """The sample question, made by the small synthetic voice: 3 s."""
    samples, rate = soundfile.read(QUESTION, dtype="float32")
    return soxr.resample(samples, rate, RATE)


def pause(seconds: float) -> np.ndarray:
    """A quiet room."""
    noise = np.random.default_rng(1).normal(0, 1e-3, int(seconds * RATE))
    return noise.astype(np.float32)


def keyboard(seconds: float) -> np.ndarray:
    """Seven keys a second: bursts of noise of 15 ms that die away."""
    rng, sound = np.random.default_rng(2), pause(seconds)
    burst = np.exp(-np.arange(240) / 60)
    for start in np.sort(rng.integers(0, len(sound) - 240, int(7 * seconds))):
        sound[start : start + 240] += (0.4 * burst * rng.normal(0, 1, 240)).astype(np.float32)
    return sound


def coughs(seconds: float) -> np.ndarray:
    """Every two seconds a burst of low noise of a quarter second, and a second one."""
    rng, sound = np.random.default_rng(3), pause(seconds)
    length = RATE // 4
    shape = np.exp(-np.arange(length) / (length / 4))
    for start in range(RATE, len(sound) - 2 * length, 2 * RATE):
        for at in (start, start + length):
            noise = np.convolve(rng.normal(0, 1, length), np.ones(12) / 12, "same")
            sound[at : at + length] += (0.6 * shape * noise).astype(np.float32)
    return sound


def music(seconds: float) -> np.ndarray:
    """A chord that changes every half second, with overtones."""
    time = np.arange(int(seconds * RATE)) / RATE
    root = 220.0 * 2 ** (np.array([0, 5, 7, 3])[(time * 2).astype(int) % 4] / 12)
    tones = [
        np.sin(2 * np.pi * np.cumsum(root * ratio * over) / RATE) / over
        for ratio in (1, 1.25, 1.5)
        for over in (1, 2, 3)
    ]
    envelope = np.exp(-3 * (time * 2 % 1))
    return (0.08 * envelope * np.sum(tones, axis=0)).astype(np.float32)
