"""Numbers into sound: sample types, channel layouts and rates."""

from __future__ import annotations

from typing import Any

import numpy as np
import soxr
from numpy.typing import NDArray

from backend.contract.media import Samples

SAMPLE_RATE = 16_000
"""Rate of every clip that leaves the intake, in hertz: what speech recognisers take."""

MIN_RATE, MAX_RATE = 8_000, 96_000
MAX_CHANNELS = 8


def to_float(samples: NDArray[Any]) -> Samples:
    """Bring PCM of any type to float32 with full scale at ±1.

    Unsigned integers are centred, integers are divided by their full scale, floats are left
    alone: a quiet recording stays quiet.

    Args:
        samples: Any shape; an integer or floating type.
    """
    if samples.dtype.kind == "f":
        with np.errstate(over="ignore"):  # an overflow is found by the check for finite samples
            return samples.astype(np.float32)
    half_range = 2.0 ** (8 * samples.dtype.itemsize - 1)
    centre = half_range if samples.dtype.kind == "u" else 0.0
    # Float32 holds 16-bit samples exactly; wider ones would lose bits before the division.
    wide = np.dtype(np.float32 if samples.dtype.itemsize <= 2 else np.float64)
    values: NDArray[np.floating[Any]] = samples.astype(wide)
    np.subtract(values, centre, out=values)
    np.divide(values, half_range, out=values)
    return values.astype(np.float32, copy=False)


def is_pcm(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of this type are taken: uint8, int8 to int32, float16 to float64."""
    return dtype.str[1:] in {"u1", "i1", "i2", "i4", "f2", "f4", "f8"}


def channels_last(samples: NDArray[Any]) -> NDArray[Any] | None:
    """Shape ``(N, C)`` from ``(N,)``, ``(N, C)`` or ``(C, N)``; none for any other shape.

    The shorter axis holds the channels, of which there are at most ``MAX_CHANNELS``.
    """
    if samples.ndim == 1:
        samples = samples[:, np.newaxis]
    if samples.ndim != 2:
        return None
    if 0 < samples.shape[0] < samples.shape[1]:
        samples = samples.T
    return samples if 0 < samples.shape[1] <= MAX_CHANNELS else None


class MonoResampler:
    """Joins pieces of mono sound at any rate into one array at one rate.

    The rate may change between pieces, as in chained streams.
    """

    def __init__(self, wanted: int = SAMPLE_RATE) -> None:
        """Begin with nothing; ``wanted`` is the rate of the whole, in hertz."""
        self._wanted = wanted
        self._rate = 0
        self._stream: soxr.ResampleStream | None = None
        self._done: list[Samples] = []

    def add(self, mono: Samples, rate: int) -> None:
        """Append samples of shape ``(N,)`` at ``rate`` hertz."""
        if rate != self._rate:
            self._finish_rate()
            self._rate = rate
            if rate != self._wanted:
                self._stream = soxr.ResampleStream(rate, self._wanted, 1, dtype="float32")
        piece = mono if self._stream is None else self._stream.resample_chunk(mono)
        self._done.append(piece)

    def join(self) -> Samples:
        """All that was added; shape ``(N,)``, float32. Call once, at the end."""
        self._finish_rate()
        return np.concatenate(self._done) if self._done else np.zeros(0, np.float32)

    def _finish_rate(self) -> None:
        if self._stream is not None:
            self._done.append(self._stream.resample_chunk(np.zeros(0, np.float32), last=True))
            self._stream = None
