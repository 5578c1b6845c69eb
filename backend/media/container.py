"""The one place where a media file of a stranger is opened."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import av
from av.container import InputContainer

from backend.contract.errors import Field
from backend.media import refusals
from backend.media.limits import MediaLimits

AUDIO_DEMUXERS = "wav,w64,mp3,aac,flac,ogg,mov,matroska,avi"
VIDEO_DEMUXERS = "mov,matroska,avi"

# Rates and lengths in these are guessed from the first packets.
_GUESSED_LENGTH = {"mp3", "aac"}


def check_file(path: Path, limits: MediaLimits, field: Field) -> None:
    """Refuse what is not a file, is empty, or is over the limit on bytes.

    Raises:
        TurnRefused: ``*_unreadable`` or ``*_too_large``.
    """
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        raise refusals.unreadable(field) from error
    if not stat.S_ISREG(status.st_mode) or status.st_size == 0:
        raise refusals.unreadable(field)
    if status.st_size > limits.max_bytes:
        raise refusals.too_large(status.st_size, limits.max_bytes, field)


@contextmanager
def open_media(path: Path, field: Field, demuxers: str) -> Iterator[InputContainer]:
    """Open a file for demuxing, by its content alone.

    The demuxers are named and the file is handed over already open, so that a playlist cannot
    make the decoder fetch an address or another file, and a name cannot be taken for one.

    Yields:
        The PyAV input container.

    Raises:
        TurnRefused: ``*_unreadable`` for anything that fails while it is open.
    """
    options = {"format_whitelist": demuxers, "protocol_whitelist": "none"}
    try:
        with (
            path.open("rb") as file,
            av.open(file, "r", metadata_errors="replace", container_options=options) as container,
        ):
            yield container
    except (av.FFmpegError, OSError) as error:
        raise refusals.unreadable(field) from error


def packets(container: InputContainer, stream: av.stream.Stream) -> Iterator[av.Packet]:
    """The packets of one stream, up to the end or to where the file is damaged beyond reading.

    The last one is empty when the end was reached; it flushes the decoder.
    """
    try:
        yield from container.demux(stream)
    except av.FFmpegError:
        return


def sound_rate(path: Path, field: Field) -> int:
    """Samples per second of the sound in a file; 0 where it has none.

    Raises:
        TurnRefused: ``*_unreadable``.
    """
    with open_media(path, field, AUDIO_DEMUXERS) as container:
        stream = container.streams.best("audio")
        return stream.rate or 0 if isinstance(stream, av.AudioStream) else 0


def sound_channels(path: Path, field: Field) -> int:
    """Channels of the sound in a file; 0 where it has none.

    Raises:
        TurnRefused: ``*_unreadable``.
    """
    with open_media(path, field, AUDIO_DEMUXERS) as container:
        stream = container.streams.best("audio")
        return stream.channels if isinstance(stream, av.AudioStream) else 0


def promised_s(container: InputContainer, stream: av.stream.Stream) -> float:
    """Length in seconds that the header gives to a stream; 0 where it gives none to rely on."""
    if container.format.name in _GUESSED_LENGTH:
        return 0.0
    if stream.duration:
        return float(stream.duration * stream.time_base)
    if container.duration and len(container.streams) == 1:
        return float(container.duration / av.time_base)
    return 0.0


def breaks_off(seconds: float, promised: float) -> bool:
    """Whether a clip of ``seconds`` is clearly shorter than its header promised."""
    return promised - seconds > max(0.5, 0.05 * promised)
