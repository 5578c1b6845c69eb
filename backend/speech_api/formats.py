"""Speech as the file formats of OpenAI's speech API, written while it is still being made."""

from __future__ import annotations

import struct
from enum import StrEnum
from typing import Protocol

import av
import numpy as np
import soxr

from backend.contract.media import Samples
from backend.conversation.pcm import to_pcm16
from backend.media.sink import Sink

SAMPLE_RATE = 24_000
"""Rate of all that is sent, in hertz: that of raw ``pcm`` in OpenAI's API."""

_UNKNOWN_BYTES = 0xFFFFFFFF  # what a WAV header says of a stream whose end is not known


class SpeechFormat(StrEnum):
    """What a client may ask for."""

    MP3 = "mp3"
    OPUS = "opus"
    AAC = "aac"
    FLAC = "flac"
    WAV = "wav"
    PCM = "pcm"

    @property
    def media_type(self) -> str:
        """The value of ``Content-Type``."""
        return _MEDIA_TYPES[self]


_MEDIA_TYPES = {
    SpeechFormat.MP3: "audio/mpeg",
    SpeechFormat.OPUS: "audio/ogg",
    SpeechFormat.AAC: "audio/aac",
    SpeechFormat.FLAC: "audio/flac",
    SpeechFormat.WAV: "audio/wav",
    SpeechFormat.PCM: "audio/pcm",
}

_CODECS = {  # container and codec, as FFmpeg calls them
    SpeechFormat.MP3: ("mp3", "libmp3lame"),
    SpeechFormat.OPUS: ("ogg", "libopus"),
    SpeechFormat.AAC: ("adts", "aac"),
    SpeechFormat.FLAC: ("flac", "flac"),
}


class Encoder(Protocol):
    """Turns sound into the bytes of one file."""

    def feed(self, pcm16: bytes) -> bytes:
        """The bytes that the next sound completes; maybe none."""
        ...

    def finish(self) -> bytes:
        """The rest of the file."""
        ...


class SpeechFile:
    """One reply as one file, in pieces; joined, they are the file."""

    def __init__(self, kind: SpeechFormat, sample_rate: int, tags: dict[str, str]) -> None:
        """Begin a file.

        Args:
            kind: Its format.
            sample_rate: Rate of what is fed, in hertz.
            tags: Words that are written into the file, where its format has room for them.
        """
        self._resampler = soxr.ResampleStream(sample_rate, SAMPLE_RATE, 1, dtype="float32")
        codec = _CODECS.get(kind)
        self._encoder: Encoder = _Packed(*codec, tags) if codec else _Plain(kind, tags)

    def feed(self, pcm: Samples, *, last: bool = False) -> bytes:
        """The bytes that the next sound completes; maybe none.

        Args:
            pcm: Shape ``(N,)``, float32 mono, full scale at ±1; may be empty.
            last: Whether it is the last, so that the file is ended.
        """
        sound = to_pcm16(self._resampler.resample_chunk(pcm, last=last))
        return self._encoder.feed(sound) + (self._encoder.finish() if last else b"")


class _Plain:
    """WAV or raw PCM16."""

    def __init__(self, kind: SpeechFormat, tags: dict[str, str]) -> None:
        self._head = _wav_head(tags) if kind is SpeechFormat.WAV else b""

    def feed(self, pcm16: bytes) -> bytes:
        head, self._head = self._head, b""
        return head + pcm16

    def finish(self) -> bytes:
        return self.feed(b"")


class _Packed:
    """What FFmpeg writes."""

    def __init__(self, container: str, codec: str, tags: dict[str, str]) -> None:
        self._file = Sink()
        self._container = av.open(self._file, "w", format=container)
        self._container.metadata.update(tags)
        rate = 48_000 if codec == "libopus" else SAMPLE_RATE  # Opus is always at 48 kHz
        self._stream = self._container.add_stream(codec, rate=rate, layout="mono")
        self._resampler = av.AudioResampler(
            self._stream.codec_context.format, "mono", rate, self._stream.codec_context.frame_size
        )

    def feed(self, pcm16: bytes) -> bytes:
        samples = np.frombuffer(pcm16, "<i2")[np.newaxis]
        if samples.size:
            frame = av.AudioFrame.from_ndarray(samples, format="s16", layout="mono")
            frame.sample_rate = SAMPLE_RATE
            self._write(frame)
        return self._file.take()

    def finish(self) -> bytes:
        self._write(None)
        self._container.mux(self._stream.encode(None))
        self._container.close()
        return self._file.take()

    def _write(self, frame: av.AudioFrame | None) -> None:
        for part in self._resampler.resample(frame):
            self._container.mux(self._stream.encode(part))


def _wav_head(tags: dict[str, str]) -> bytes:
    """Header of a mono PCM16 stream of unknown length, with the tags as an INFO list."""
    notes = b"INFO" + b"".join(
        _chunk(_INFO[name], value.encode() + b"\0") for name, value in tags.items() if name in _INFO
    )
    form = struct.pack("<HHIIHH", 1, 1, SAMPLE_RATE, 2 * SAMPLE_RATE, 2, 16)
    head = b"RIFF" + struct.pack("<I", _UNKNOWN_BYTES) + b"WAVE"
    data = b"data" + struct.pack("<I", _UNKNOWN_BYTES)
    return head + _chunk(b"fmt ", form) + _chunk(b"LIST", notes) + data


_INFO = {"artist": b"IART", "comment": b"ICMT", "date": b"ICRD", "encoder": b"ISFT"}


def _chunk(name: bytes, data: bytes) -> bytes:
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)
