"""Makes the sounds, videos and pictures that the tests send in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import chain
from pathlib import Path

import av
import numpy as np
import soundfile
from av.container import OutputContainer
from numpy.typing import NDArray

RED, GREEN, BLUE = (255, 0, 0), (0, 255, 0), (0, 0, 255)


def tone(seconds: float, rate: int, *, peak: float = 0.5, hertz: float = 440.0) -> NDArray:
    """A sine; shape ``(N,)``, float64."""
    return peak * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)


def as_pcm(sound: NDArray, dtype: str) -> NDArray:
    """Floats at full scale ±1 in another sample type, as a sound card would give them."""
    if dtype.startswith("float"):
        return sound.astype(dtype)
    info = np.iinfo(dtype)
    half_range = (int(info.max) - int(info.min) + 1) // 2
    centre = half_range if dtype.startswith("u") else 0
    return np.clip(np.round(sound * half_range) + centre, info.min, info.max).astype(dtype)


def write_sound(
    path: Path, sound: NDArray, rate: int, codec: str, *, layout: str = "mono", kind: str = ""
) -> Path:
    """Encode floats of shape ``(N,)`` with the same sound in every channel of ``layout``.

    ``kind`` is FFmpeg's name of the container, for paths whose ending does not tell.
    """
    with av.open(str(path), "w", format=kind or None) as container:
        _add_sound(container, sound, rate, codec, layout)
    return path


def write_vorbis(path: Path, sound: NDArray, rate: int) -> Path:
    """OGG Vorbis, which this build of FFmpeg reads but does not write."""
    soundfile.write(path, sound, rate, format="OGG", subtype="VORBIS")
    return path


def write_wav_extensible(path: Path, sound: NDArray, rate: int) -> Path:
    """A 24-bit WAV file with the longer header that some recorders write."""
    soundfile.write(path, sound, rate, format="WAVEX", subtype="PCM_24")
    return path


def halves(width: int, height: int, top: tuple = RED, bottom: tuple = BLUE) -> NDArray:
    """A picture with one colour above and another below; shape ``(H, W, 3)``, uint8."""
    picture = np.empty((height, width, 3), np.uint8)
    picture[: height // 2], picture[height // 2 :] = top, bottom
    return picture


def grey_ramp(count: int, width: int = 64, height: int = 48) -> Iterable[NDArray]:
    """Pictures that get brighter from black to white, one by one."""
    for level in np.linspace(0, 255, count):
        yield np.full((height, width, 3), round(level), np.uint8)


def write_video(
    path: Path,
    pictures: Iterable[NDArray],
    *,
    rate: int = 10,
    codec: str = "libx264",
    kind: str = "",
    prepare: Callable[[av.VideoStream], None] = lambda stream: None,
    times_ms: list[int] | None = None,
    sound: NDArray | None = None,
    muxer: dict[str, str] | None = None,
    **options: str,
) -> Path:
    """Encode pictures of one size.

    ``prepare`` sets rotation or pixel aspect on the stream before it is used; ``times_ms`` says
    when each picture is shown, evenly at ``rate`` when none; ``sound`` is at 48 kHz; ``muxer``
    of ``{"live": "1"}`` makes WebM without length and index, as browsers record it; ``options``
    go to the encoder, such as ``g`` for the frames between keyframes.
    """
    pictures = iter(pictures)
    first = next(pictures)
    with av.open(str(path), "w", format=kind or None, options=muxer or {}) as container:
        stream = container.add_stream(codec, rate=rate, options=options)
        stream.height, stream.width = first.shape[:2]
        # Colour planes of half the size cannot cover an odd number of pixels.
        stream.pix_fmt = "yuv444p" if stream.height % 2 or stream.width % 2 else "yuv420p"
        prepare(stream)
        if sound is not None:
            _add_sound(container, sound, 48_000, "libopus" if kind == "webm" else "aac", "mono")
        for index, picture in enumerate(chain([first], pictures)):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            if times_ms is not None:
                frame.pts, frame.time_base = times_ms[index], Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def _add_sound(
    container: OutputContainer, sound: NDArray, rate: int, codec: str, layout: str
) -> None:
    stream = container.add_stream(codec, rate=rate, layout=layout)
    stream.bit_rate = 192_000
    channels = len(stream.layout.channels)
    interleaved = np.repeat(sound.astype(np.float32), channels)[np.newaxis]
    frame = av.AudioFrame.from_ndarray(interleaved, format="flt", layout=layout)
    frame.sample_rate, frame.pts = rate, 0
    fitting = av.AudioResampler(stream.format.name, layout, rate, stream.frame_size or 1024)
    for piece in [*fitting.resample(frame), *fitting.resample(None)]:
        container.mux(stream.encode(piece))
    container.mux(stream.encode())
