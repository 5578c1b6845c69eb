"""What can be measured about a recording of a voice, in numbers that are always finite."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from backend.contract.media import Samples
from backend.engines.embedded.speech_detector import SAMPLE_RATE
from backend.voices.activity import Activity

FLOOR_DB = -100.0
"""Level that silence is given, in dB of full scale: below the step of 16 bits."""

MOST_SNR_DB = 60.0
"""Ratio that a recording without noise is given: more cannot be told at 16 bits."""

_FRAME = 512  # samples: 32 ms, longer than one period of the lowest voice
_QUIETEST = 5  # percentile of frames within speech that fall on stops and between words
_ENOUGH_FRAMES = 6
_EDGE_FRAMES = 1  # of a pause, beside speech that dies away

_FLAT_RUN = 3  # samples at 16 kHz; a cut top is flat, a natural one is a point
_NEAR_PEAK, _FLAT_STEP = 0.8, 0.01  # shares of the peak

TELEPHONE_HZ = 4_000.0
"""Nothing gets through a telephone above this: it samples at 8 kHz (ITU-T G.711)."""

_VOICE_HZ = 300.0


def level_db(samples: Samples) -> float:
    """Root mean square in dB of full scale, ``FLOOR_DB`` at least."""
    power = float(np.mean(np.square(samples, dtype=np.float64))) if samples.size else 0.0
    return _decibels(power, FLOOR_DB)


def clipped_share(samples: Samples) -> float:
    """Which share of a recording's samples lies on tops that are cut off flat, 0 to 1.

    It counts whether the tops are at full scale or below it: a clip that was turned down after
    it was cut sounds no better.
    """
    if not samples.any():
        return 0.0
    sizes = np.abs(samples) / np.abs(samples).max()
    flat = (np.abs(np.diff(samples)) <= _FLAT_STEP * np.abs(samples).max()) & (
        np.minimum(sizes[1:], sizes[:-1]) >= _NEAR_PEAK
    )
    starts, ends = _runs(flat)
    lengths = ends - starts
    return float(lengths[lengths >= _FLAT_RUN].sum() / len(samples))


def snr_db(activity: Activity) -> float:
    """Speech over noise in dB, at most ``MOST_SNR_DB``.

    Noise is measured where nobody speaks, and in the quietest moments within the speech; the
    louder of the two counts, since some recorders put silence into the pauses. Dense clean
    speech without pauses is measured too low by this, at 30 dB and more.
    """
    loud = _frame_powers(activity.speech)
    if not loud.size:
        return 0.0
    noises = [float(np.percentile(loud, _QUIETEST))]
    pauses = _pause_powers(activity)
    if pauses.size >= _ENOUGH_FRAMES:
        noises.append(float(np.median(pauses)))
    noise, both = max(noises), float(loud.mean())
    if noise <= 0:
        return MOST_SNR_DB
    return min(MOST_SNR_DB, _decibels(max(both - noise, 0.0) / noise, 0.0))


def tonality(samples: Samples) -> float:
    """Which share of a sound's power lies in steady tones, 0 (hiss) to 1 (one chord held).

    Music is made of lines in the spectrum that stay; noise has none, and those of speech move.
    """
    frame = (
        4 * _FRAME
    )  # 128 ms: fine enough for the notes of a chord, and longer than a vowel is steady
    if len(samples) < 2 * frame or not samples.any():
        return 0.0
    frames = samples[: len(samples) // frame * frame].reshape(-1, frame) * np.hanning(frame)
    power = np.square(np.abs(np.fft.rfft(frames, axis=1))) + 1e-12
    around = np.apply_along_axis(np.convolve, 1, power, np.ones(33) / 33, "same")
    lines = power > 4 * around
    steady = lines[1:] & (lines[:-1] | np.roll(lines[:-1], 1, 1) | np.roll(lines[:-1], -1, 1))
    return float((power[1:] * steady).sum() / power[1:].sum())


def treble_db(samples: Samples) -> float:
    """Power above the telephone's band, in dB of the power of the voice below it.

    Args:
        samples: Shape ``(N,)``, float32 at 16 kHz.
    """
    if not samples.any():
        return FLOOR_DB
    power = np.square(np.abs(np.fft.rfft(samples)))
    hertz = np.fft.rfftfreq(len(samples), 1 / SAMPLE_RATE)
    above = float(power[hertz > TELEPHONE_HZ].sum())
    below = float(power[(hertz > _VOICE_HZ) & (hertz <= TELEPHONE_HZ)].sum())
    return _decibels(above / below, FLOOR_DB) if below > 0 else 0.0


def _pause_powers(activity: Activity) -> NDArray[np.float64]:
    """Powers of the frames between the stretches of speech, without those at their edges."""
    ends = [0, *(end for _, end in activity.spans)]
    starts = [*(start for start, _ in activity.spans), len(activity.samples)]
    edge = _EDGE_FRAMES * _FRAME
    pauses = [
        _frame_powers(activity.samples[max(end + edge, 0) : max(start - edge, 0)])
        for end, start in zip(ends, starts, strict=True)
    ]
    return np.concatenate(pauses)


def _frame_powers(samples: Samples) -> NDArray[np.float64]:
    frames = samples[: len(samples) // _FRAME * _FRAME].reshape(-1, _FRAME)
    powers: NDArray[np.float64] = np.square(frames, dtype=np.float64).mean(axis=1)
    return powers


def _runs(flags: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First index of each run of true values, and the index after its last."""
    changes = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    return changes[::2], changes[1::2]


def _decibels(ratio: float, floor: float) -> float:
    return max(floor, 10 * float(np.log10(ratio))) if ratio > 0 else floor
