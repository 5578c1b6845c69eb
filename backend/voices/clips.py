"""Reference clips on disk: each is kept once, under a name made of its own content."""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
from pathlib import Path

import numpy as np
import soundfile
import soxr

from backend.contract.media import AudioClip, Samples
from backend.voices.refusals import Part, VoiceRefused

SAMPLE_RATE = 24_000
"""Rate of the kept clips in hertz: that of the codec and speaker encoder of Qwen3-TTS."""

_PEAK = 0.7


class ClipFiles:
    """The clips of one directory."""

    def __init__(self, directory: Path) -> None:
        """Keep clips in ``directory``, which is made when it is not there."""
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)

    def keep(self, wav: bytes) -> str:
        """Write a clip that is not there yet, whole or not at all; the name of its file.

        Args:
            wav: A file as ``as_wav`` makes it.
        """
        name = f"{hashlib.sha256(wav).hexdigest()}.wav"
        path = self._directory / name
        if not path.exists():
            with tempfile.NamedTemporaryFile(dir=self._directory, delete=False) as file:
                file.write(wav)
            os.replace(file.name, path)  # noqa: PTH105 - names are strings here
        return name

    def read(self, name: str) -> bytes:
        """The file.

        Raises:
            VoiceRefused: ``clip_lost``.
        """
        try:
            return (self._directory / name).read_bytes()
        except OSError as error:
            text = "The recording of this voice is not there any more. Record it again."
            raise VoiceRefused("clip_lost", text, Part.CLIP) from error

    def forget(self, name: str) -> None:
        """Delete a clip; harmless when it is not there."""
        (self._directory / name).unlink(missing_ok=True)


def as_wav(clip: AudioClip) -> bytes:
    """A clip as it is kept: WAV, 16 bits, mono, 24 kHz, peak at -3 dB of full scale.

    Args:
        clip: Sound at any rate that is not silent.
    """
    samples = clip.samples - clip.samples.mean()
    if clip.sample_rate != SAMPLE_RATE:
        samples = soxr.resample(samples, clip.sample_rate, SAMPLE_RATE)
    samples = samples * (_PEAK / max(float(np.abs(samples).max(initial=0.0)), 1e-6))
    file = io.BytesIO()
    soundfile.write(file, samples, SAMPLE_RATE, format="WAV", subtype="PCM_16")
    return file.getvalue()


def from_wav(wav: bytes) -> AudioClip:
    """The clip in a file that ``as_wav`` made.

    Raises:
        VoiceRefused: ``clip_damaged``: it is no such file.
    """
    try:
        with soundfile.SoundFile(io.BytesIO(wav)) as file:
            fits = (file.format, file.samplerate, file.channels) == ("WAV", SAMPLE_RATE, 1)
            samples: Samples = file.read(dtype="float32")
    except (soundfile.SoundFileError, RuntimeError) as error:
        raise _damaged() from error
    if not fits or samples.size == 0:
        raise _damaged()
    return AudioClip(samples, SAMPLE_RATE)


def _damaged() -> VoiceRefused:
    return VoiceRefused("clip_damaged", "The recording of this voice is damaged.", Part.CLIP)
