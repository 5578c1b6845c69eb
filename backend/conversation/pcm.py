"""The edge of the app: float sound becomes PCM16, once and in one way."""

from __future__ import annotations

import io
import wave

import numpy as np

from backend.contract.media import Samples


def to_pcm16(samples: Samples) -> bytes:
    """Scale ±1 float32 mono to little-endian PCM16, clipped; non-finite samples become 0."""
    finite = np.nan_to_num(samples, nan=0.0, posinf=0.0, neginf=0.0)
    return (np.clip(finite, -1.0, 1.0) * 32767.0).round().astype("<i2").tobytes()


def to_wav(pcm16: bytes, sample_rate: int) -> bytes:
    """A mono WAV file around little-endian PCM16."""
    file = io.BytesIO()
    with wave.open(file, "wb") as wav:
        wav.setnchannels(1)
        wav.setsampwidth(2)
        wav.setframerate(sample_rate)
        wav.writeframes(pcm16)
    return file.getvalue()
