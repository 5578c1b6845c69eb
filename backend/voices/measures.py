"""What can be measured about a recording of a voice, in numbers that are always finite."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from backend.contract.media import Samples
from backend.engines.embedded.speech_detector import SAMPLE_RATE
from backend.voices.activity import Activity

FLOOR_DB = -100.0
"""Level that silence is given, in dB of full scale: below the step of 16 bits."""

MOST_SNR_DB = 60.0
"""Ratio that a recording without noise is given: more cannot be told at 16 bits."""

_FRAME = 256  # samples: 16 ms, as long as a short stop
_ENOUGH_FRAMES = 12
# Percentiles of the frames within speech, and how far apart noise has them: 1 dB at most, while
# real speech that was recorded without noise had 4 to 11.
_QUIETEST, _STEADY = (2, 5), 10**0.25

_CHORD = 2048  # samples: 128 ms, longer than a voice holds a pitch when it speaks
_LINE, _AROUND = 4.0, 33  # a line has so many times the power of so many bins around it

_FLAT_RUN = 3  # samples at 16 kHz; a cut top is flat, a natural one is a point
_NEAR_PEAK, _FLAT_STEP = 0.8, 0.01  # shares of the peak

TELEPHONE_HZ = 4_000.0
"""Nothing gets through a telephone above this: it samples at 8 kHz (ITU-T G.711)."""

_VOICE_HZ = 300.0
_LOWEST_VOICE_HZ = 80.0  # the pitch of a deep man's voice


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
    """Speech over noise in dB, from 80 Hz on, ``MOST_SNR_DB`` where there is no noise to be heard.

    Noise is measured where nobody speaks, and in the quietest moments within the speech if they
    are all at one level, as noise is; the louder counts, since some recorders mute the pauses.
    """
    loud = _frame_powers(_voice_band(activity.speech))
    if not loud.size:
        return 0.0
    noise, both = max([0.0, *_noises(loud, activity.rest)]), float(loud.mean())
    if noise <= 0:
        return MOST_SNR_DB
    return min(MOST_SNR_DB, _decibels(max(both - noise, 0.0) / noise, 0.0))


def _noises(loud: NDArray[np.float64], rest: Samples) -> Iterator[float]:
    lowest, low = np.percentile(loud, _QUIETEST)
    if low <= _STEADY * lowest:
        yield float(lowest)
    pauses = _frame_powers(_voice_band(rest))
    if pauses.size >= _ENOUGH_FRAMES:
        yield float(np.median(pauses))


def tonality(samples: Samples) -> float:
    """Which share of a sound's power from 80 Hz on lies in steady tones, 0 (hiss) to 1 (a chord).

    Music is made of lines in the spectrum that stay; noise has none, and those of speech move.
    """
    if len(samples) < 2 * _CHORD or not samples.any():
        return 0.0
    frames = samples[: len(samples) // _CHORD * _CHORD].reshape(-1, _CHORD) * np.hanning(_CHORD)
    power = np.square(np.abs(np.fft.rfft(frames, axis=1))) + 1e-12
    power[:, : int(_LOWEST_VOICE_HZ * _CHORD / SAMPLE_RATE)] = 1e-12
    around = np.apply_along_axis(np.convolve, 1, power, np.ones(_AROUND) / _AROUND, "same")
    lines = power > _LINE * around
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


def _voice_band(samples: Samples) -> Samples:
    """Without the rumble and hum below the voice, which hardly anybody hears."""
    if not samples.size:
        return samples
    spectrum = np.fft.rfft(samples)
    spectrum[: int(_LOWEST_VOICE_HZ * len(samples) / SAMPLE_RATE)] = 0
    return np.fft.irfft(spectrum, len(samples)).astype(np.float32)


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
