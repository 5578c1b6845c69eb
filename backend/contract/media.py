"""Sound and pictures as every room hands them on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]
"""Mono sound, shape ``(N,)``, float32, full scale at ±1."""


@dataclass(frozen=True, slots=True, eq=False)
class AudioClip:
    """Mono sound at a known rate.

    Attributes:
        samples: Shape ``(N,)``, float32, finite, full scale at ±1.
        sample_rate: Samples per second.
    """

    samples: Samples
    sample_rate: int

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return len(self.samples) / self.sample_rate


@dataclass(frozen=True, slots=True, eq=False)
class VideoFrames:
    """Upright pictures with the times at which they were seen.

    Attributes:
        images: Shape ``(T, H, W, 3)``, uint8 RGB, ``T >= 1``.
        times_s: Shape ``(T,)``, float64 seconds from the start of the clip, ascending.
        duration_s: Length of the clip in seconds; 0 for a still picture.
    """

    images: NDArray[np.uint8]
    times_s: NDArray[np.float64]
    duration_s: float
