"""The mel spectrogram that the speaker encoder was trained on."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from backend.contract.media import Samples

SAMPLE_RATE = 16_000
"""Rate in hertz; this and the sizes below are those of Resemblyzer 0.1.4, ``hparams.py``."""

HOP = 160
"""Samples from one frame to the next: 10 ms."""

BANDS = 40

_WINDOW = 400


def mel_spectrogram(samples: Samples) -> NDArray[np.float32]:
    """Power in mel bands; not its logarithm.

    Args:
        samples: Shape ``(N,)``, float32 at 16 kHz.

    Returns:
        Shape ``(1 + N // 160, 40)``, float32; frame ``i`` is centred on sample ``160 * i``.
    """
    padded = np.pad(samples, _WINDOW // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, _WINDOW)[::HOP]
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_WINDOW) / _WINDOW)
    power = np.square(np.abs(np.fft.rfft(frames * hann.astype(np.float32), axis=1)))
    bands: NDArray[np.float32] = (power.astype(np.float32) @ _filters().T).astype(np.float32)
    return bands


@lru_cache(maxsize=1)
def _filters() -> NDArray[np.float32]:
    """Slaney's triangles, each of the same area, from 0 to 8 kHz; shape ``(40, 201)``."""
    from faster_whisper.feature_extractor import FeatureExtractor

    filters = FeatureExtractor.get_mel_filters(SAMPLE_RATE, _WINDOW, n_mels=BANDS)
    return np.asarray(filters, np.float32)
