"""How long a file of speech is, told in its head once it is whole; when it begins nobody knows."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

import av

from backend.speech_api.formats import SpeechFormat

_FLAC_SAMPLES_AT = 21  # four bits of the byte here and the four bytes that follow


def tell_length(path: Path, kind: SpeechFormat) -> None:
    """Complete the head of a WAV or FLAC file; other formats need nothing. Blocks.

    Args:
        path: A file that ``SpeechFile`` has made, whole.
        kind: Its format.
    """
    if kind is SpeechFormat.WAV:
        with path.open("r+b") as file:
            _complete_wav(file, path.stat().st_size)
    elif kind is SpeechFormat.FLAC:
        samples = _count_samples(path)
        with path.open("r+b") as file:
            file.seek(_FLAC_SAMPLES_AT)
            others = file.read(1)[0] & 0xF0
            file.seek(_FLAC_SAMPLES_AT)
            file.write(struct.pack(">BI", others | samples >> 32, samples & 0xFFFFFFFF))


def _complete_wav(file: BinaryIO, size: int) -> None:
    file.seek(4)
    file.write(struct.pack("<I", size - 8))
    file.seek(12)
    while True:
        name, length = struct.unpack("<4sI", file.read(8))
        if name == b"data":
            break
        file.seek(length + length % 2, 1)
    sound_at = file.tell()
    file.seek(sound_at - 4)
    file.write(struct.pack("<I", size - sound_at))


def _count_samples(path: Path) -> int:
    with av.open(str(path), format="flac") as container:
        return sum(packet.duration or 0 for packet in container.demux(audio=0))
