"""A voice made higher or lower: its sound is stretched in time, and played as much faster."""

from __future__ import annotations

from collections.abc import Iterator

import av
import av.filter
import numpy as np
import soxr
from av.audio.frame import AudioFrame

from backend.contract.media import Samples

_FRAME = 1024  # samples: the filter gives sound out in pieces as long as those that it takes


def at_pitch(pieces: Iterator[Samples], semitones: float, sample_rate: int) -> Iterator[Samples]:
    """Sound that comes in pieces, higher or lower, and as long as it was.

    The formants move with the pitch, as with a smaller or a larger speaker. A voice that is asked
    to speak slower instead changes its intonation too, and keeps to no length.

    Args:
        pieces: Float32 mono sound, a piece at a time.
        semitones: How much higher; 0 leaves every sample as it is.
        sample_rate: Rate of the sound in hertz.

    Yields:
        Shape ``(N,)``, float32 mono, never empty; the first with the first piece of 0.3 s.
    """
    if not semitones:
        yield from pieces
        return
    higher = 2.0 ** (semitones / 12)
    resampler = soxr.ResampleStream(sample_rate * higher, sample_rate, 1, dtype="float32")
    for piece in _slower(pieces, higher, sample_rate):
        if (sound := resampler.resample_chunk(piece)).size:
            yield sound
    if (rest := resampler.resample_chunk(np.zeros(0, np.float32), last=True)).size:
        yield rest


def _slower(pieces: Iterator[Samples], factor: float, sample_rate: int) -> Iterator[Samples]:
    """Sound that lasts longer by a factor at the same pitch: by FFmpeg's WSOLA, ``atempo``."""
    graph = av.filter.Graph()
    source = graph.add_abuffer(sample_rate=sample_rate, format="flt", layout="mono")
    tempo = graph.add("atempo", f"{1 / factor:.6f}")
    sink = graph.add("abuffersink")
    graph.link_nodes(source, tempo, sink).configure()
    for piece in pieces:
        for start in range(0, len(piece), _FRAME):
            part = piece[np.newaxis, start : start + _FRAME]
            frame = AudioFrame.from_ndarray(part, format="flt", layout="mono")
            frame.sample_rate = sample_rate
            source.push(frame)
            yield from _ready(sink)
    source.push(None)
    yield from _ready(sink)


def _ready(sink: av.filter.context.FilterContext) -> Iterator[Samples]:
    while True:
        try:
            yield sink.pull().to_ndarray().reshape(-1)
        except (av.BlockingIOError, av.EOFError):
            return
