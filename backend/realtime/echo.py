"""Tells the assistant's own voice, come back through the microphone, from a person's."""

from __future__ import annotations

import numpy as np

from backend.contract.media import Samples

ECHO_SHARE = 0.5
"""Share of a sound's energy from which it counts as an echo and not as a person."""

_TAPS = 384
_BEFORE = 32  # taps ahead of the loudest path: its rise is not one sample long


def echo_share(heard: Samples, said: Samples) -> float:
    """Which share of the energy that was heard is what was said, come back.

    The delay is where the whitened cross-correlation (GCC-PHAT, Knapp and Carter 1976) peaks. From
    there on, a filter of 24 ms, the way from loudspeaker to microphone, is fitted by least squares;
    what it explains is echo. A person who speaks over the echo is not explained by it.

    Args:
        heard: Shape ``(N,)``, float32 at 16 kHz, from the microphone.
        said: Shape ``(M,)``, float32 at 16 kHz, what was sounding then, and before.

    Returns:
        0 to 1; 0 when either is silent, or too little was heard.
    """
    if len(heard) < 2 * _TAPS or not heard.any() or not said.any():
        return 0.0
    said = np.pad(said, (len(heard), 0))  # the reply may have begun while this was heard
    source = np.pad(said, (0, _BEFORE))[_delay(heard, said) + _BEFORE :][: len(heard)]
    size = 1 << (len(heard) + _TAPS).bit_length()
    sent, came = np.fft.rfft(source, size), np.fft.rfft(heard, size)
    squares = np.fft.irfft(np.square(np.abs(sent)), size)[:_TAPS]
    # A little noise, so that silent bands are not fitted.
    squares[0] = squares[0] * (1 + 1e-4) + 1e-12
    lags = np.abs(np.subtract.outer(np.arange(_TAPS), np.arange(_TAPS)))
    path = np.linalg.solve(squares[lags], np.fft.irfft(np.conj(sent) * came, size)[:_TAPS])
    explained = np.fft.irfft(sent * np.fft.rfft(path, size), size)[: len(heard)]
    left = np.square(heard - explained).sum() / np.square(heard).sum()
    return float(np.clip(1.0 - left, 0.0, 1.0))


def _delay(heard: Samples, said: Samples) -> int:
    """Sample of ``said`` at which ``heard`` begins, as far as the two agree."""
    size = 1 << (len(said) + len(heard) - 1).bit_length()
    cross = np.fft.rfft(said, size) * np.conj(np.fft.rfft(heard, size))
    peaks = np.fft.irfft(cross / np.maximum(np.abs(cross), 1e-9), size)
    return int(np.argmax(peaks[: len(said) - len(heard) + 1]))
