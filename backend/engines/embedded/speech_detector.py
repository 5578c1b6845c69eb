"""Where in a recording somebody speaks."""

from __future__ import annotations

import numpy as np

from backend.contract.media import AudioClip, Samples

SAMPLE_RATE = 16_000
"""Rate that Whisper and the speech detector work at, in hertz."""

_EDGE_S = 0.3


def at_model_rate(clip: AudioClip) -> Samples:
    """The clip's sound at 16 kHz."""
    if clip.sample_rate == SAMPLE_RATE:
        return clip.samples
    import soxr

    resampled: Samples = soxr.resample(clip.samples, clip.sample_rate, SAMPLE_RATE)
    return resampled


def speech_in(samples: Samples) -> Samples:
    """The parts of a recording in which somebody speaks, joined.

    Args:
        samples: Shape ``(N,)``, float32 at 16 kHz.

    Returns:
        Shape ``(M,)``, float32; empty when nobody speaks.
    """
    from faster_whisper.vad import VadOptions, get_speech_timestamps

    edge = np.zeros(int(_EDGE_S * SAMPLE_RATE), np.float32)
    padded = np.concatenate((edge, samples, edge))
    options = VadOptions(
        threshold=0.5, min_speech_duration_ms=90, min_silence_duration_ms=1000, speech_pad_ms=300
    )
    spans = get_speech_timestamps(padded, options)
    parts = [padded[span["start"] : span["end"]] for span in spans]
    return np.concatenate(parts) if parts else np.zeros(0, np.float32)
