"""Finished speech as one file: it says how long it is, and carries a mark, as no stream can."""

from __future__ import annotations

import io
from enum import StrEnum

import soundfile

from backend.contract.media import Samples
from backend.voices.watermark import watermarked

_SUBTYPES = {"wav": "PCM_16", "flac": "PCM_16", "mp3": "MPEG_LAYER_III"}


class FileFormat(StrEnum):
    """What finished speech can be written as."""

    WAV = "wav"
    FLAC = "flac"
    MP3 = "mp3"

    @property
    def media_type(self) -> str:
        """The value of ``Content-Type``."""
        return "audio/mpeg" if self is FileFormat.MP3 else f"audio/{self}"


def whole_file(samples: Samples, sample_rate: int, kind: FileFormat, tags: dict[str, str]) -> bytes:
    """The bytes of a file, with the inaudible mark where its package is installed. Blocks.

    Args:
        samples: Shape ``(N,)``, float32 mono, full scale at ±1.
        sample_rate: Their rate in hertz, which the file keeps.
        kind: Its format.
        tags: ``artist``, ``comment``, ``date`` and ``encoder``, which the file tells players.
    """
    data = io.BytesIO()
    options = {"format": kind.upper(), "subtype": _SUBTYPES[kind]}
    with soundfile.SoundFile(data, "w", sample_rate, 1, **options) as file:
        file.artist, file.comment = tags["artist"], tags["comment"]
        file.date, file.software = tags["date"], tags["encoder"]
        file.write(watermarked(samples, sample_rate))
    return data.getvalue()
