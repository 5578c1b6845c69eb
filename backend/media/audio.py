"""Intake of sound: arrays and files become mono float32 at 16 kHz, or are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import av
import numpy as np
from av.container import InputContainer
from numpy.typing import NDArray

from backend.contract.errors import Field, TurnRefused
from backend.contract.media import AudioClip, Samples
from backend.media import pcm, refusals
from backend.media.container import (
    AUDIO_DEMUXERS,
    breaks_off,
    check_file,
    open_media,
    packets,
    promised_s,
)
from backend.media.limits import MediaLimits

MIN_S = 0.1
"""Shortest clip in seconds; a blip below this is no word in any language."""

# Encoders round a length up to whole packets; nobody should be refused for that.
LENGTH_SLACK_S = 0.25

# A player skips a bad packet and plays on; beyond this share words are missing.
_MAX_DAMAGED_SHARE = 0.05


def from_samples(samples: NDArray[Any], sample_rate: int) -> AudioClip:
    """Take in an array of PCM samples.

    Args:
        samples: Shape ``(N,)``, ``(N, C)`` or ``(C, N)``; uint8 centred on 128, int8, int16,
            int32, or floats with full scale at ±1. Channels are averaged.
        sample_rate: Samples per second, 8000 to 96000.

    Returns:
        The clip at 16 kHz.

    Raises:
        TurnRefused: ``audio_empty``, ``audio_type``, ``audio_shape``, ``audio_rate``,
            ``audio_not_finite`` or ``audio_too_short``.
    """
    samples = np.asarray(samples)
    if samples.size == 0:
        raise _refused("empty", "This recording is empty.", Field.AUDIO)
    if not pcm.is_pcm(samples.dtype):
        text = f"Samples of type {samples.dtype} are not sound. Send 8, 16 or 32-bit PCM or floats."
        raise _refused("type", text, Field.AUDIO)
    by_channel = pcm.channels_last(samples)
    if by_channel is None:
        text = f"An array of shape {samples.shape} is not sound. Send one row per channel."
        raise _refused("shape", text, Field.AUDIO)
    _check_rate(sample_rate, Field.AUDIO)
    resampler = pcm.MonoResampler()
    resampler.add(_mono(by_channel), int(sample_rate))
    return _checked(resampler.join(), Field.AUDIO)


def decode(
    path: Path, limits: MediaLimits, *, field: Field = Field.AUDIO, rate: int = pcm.SAMPLE_RATE
) -> AudioClip:
    """Decode the sound of a file whatever its name.

    Takes WAV, MP3, M4A, AAC, FLAC, OGG and WebM, and the sound track of a video. A few
    unreadable packets are passed over, as a player does; a file with more of them, or one that
    ends well before its header says, is refused, since words would be missing without notice.

    Args:
        path: The file.
        limits: Bounds; the limit on videos counts when ``field`` is ``Field.VIDEO``.
        field: The input that a refusal names.
        rate: Samples per second of the clip.

    Returns:
        The whole of the sound.

    Raises:
        TurnRefused: ``*_unreadable``, ``*_too_large``, ``*_too_long``, ``*_no_sound``,
            ``*_damaged``, ``*_channels``, ``*_rate``, ``*_not_finite`` or ``*_too_short``, the
            star being the field.
    """
    check_file(path, limits, field)
    limit_s = limits.max_video_s if field is Field.VIDEO else limits.max_audio_s
    _check_length(path, limit_s, field)
    with open_media(path, field, AUDIO_DEMUXERS) as container:
        return _checked(_read(container, limit_s, field, rate), field, rate)


def _check_length(path: Path, limit_s: float, field: Field) -> None:
    """Refuse by the lengths of the packets, without decoding any."""
    with open_media(path, field, AUDIO_DEMUXERS) as container:
        stream = _sound_stream(container, field)
        heard = (packet for packet in packets(container, stream) if not packet.is_discard)
        ticks = sum(packet.duration or 0 for packet in heard)
        seconds = float(ticks * stream.time_base)
        if seconds > limit_s + LENGTH_SLACK_S:
            raise refusals.too_long(seconds, limit_s, field)
        promised = promised_s(container, stream)
        if seconds and breaks_off(seconds, promised):
            text = (
                f"This {refusals.noun(field)} breaks off after {refusals.in_words(seconds)} of "
                f"{refusals.in_words(promised)}. Send it again."
            )
            raise _refused("damaged", text, field)


def _sound_stream(container: InputContainer, field: Field) -> av.AudioStream:
    stream = container.streams.best("audio")
    if not isinstance(stream, av.AudioStream):
        raise _refused("no_sound", "This file has no sound.", field)
    if stream.codec_context is None:  # a codec that no decoder is known for
        raise refusals.unreadable(field)
    _check_rate(stream.rate or 0, field)
    return stream


def _read(container: InputContainer, limit_s: float, field: Field, rate: int) -> Samples:
    stream = _sound_stream(container, field)
    resampler = pcm.MonoResampler(rate)
    seconds, total, damaged = 0.0, 0, 0
    for packet in packets(container, stream):
        total += 1
        try:
            frames = packet.decode()
        except av.FFmpegError:
            damaged += 1
            continue
        for frame in frames:
            _check_channels(frame.layout.nb_channels, field)
            _check_rate(frame.sample_rate, field)
            seconds += frame.samples / frame.sample_rate
            resampler.add(_mono(_frame_samples(frame)), frame.sample_rate)
        if seconds > limit_s + LENGTH_SLACK_S:  # the packets lied about their length
            raise refusals.too_long(seconds, limit_s, field)
    if damaged > max(1, _MAX_DAMAGED_SHARE * total):
        text = (
            f"Too much of this {refusals.noun(field)} is damaged to be understood. Send it again."
        )
        raise _refused("damaged", text, field)
    return resampler.join()


def _frame_samples(frame: av.AudioFrame) -> NDArray[Any]:
    """Shape ``(N, C)`` in the decoder's own type."""
    if frame.format.is_planar and frame.layout.nb_channels == pcm.MAX_CHANNELS:
        # PyAV reads past the end of eight planes and crashes the process.
        packer = av.AudioResampler(frame.format.packed, frame.layout, frame.sample_rate)
        return np.concatenate([_frame_samples(packed) for packed in packer.resample(frame)])
    array: NDArray[Any] = frame.to_ndarray()
    return array.T if frame.format.is_planar else array.reshape(frame.samples, -1)


def _mono(samples: NDArray[Any]) -> Samples:
    mono: Samples = pcm.to_float(samples).mean(axis=1, dtype=np.float32)
    return mono


def _check_channels(count: int, field: Field) -> None:
    if count > pcm.MAX_CHANNELS:
        text = (
            f"This {refusals.noun(field)} has {count} channels of sound; "
            f"at most {pcm.MAX_CHANNELS} are taken."
        )
        raise _refused("channels", text, field)


def _check_rate(rate: int, field: Field) -> None:
    if not pcm.MIN_RATE <= rate <= pcm.MAX_RATE:
        text = (
            f"This {refusals.noun(field)} has a sample rate of {rate} Hz. "
            f"Rates from {pcm.MIN_RATE} to {pcm.MAX_RATE} Hz are taken."
        )
        raise _refused("rate", text, field)


def _checked(samples: Samples, field: Field, rate: int = pcm.SAMPLE_RATE) -> AudioClip:
    seconds = len(samples) / rate
    if not np.isfinite(samples).all():
        text = f"This {refusals.noun(field)} holds values that are not numbers. Record it again."
        raise _refused("not_finite", text, field)
    if seconds < MIN_S:
        text = (
            f"This {refusals.noun(field)} has only {refusals.in_words(seconds)} of sound; "
            f"at least {refusals.in_words(MIN_S)} is needed."
        )
        raise _refused("too_short", text, field)
    return AudioClip(samples, rate)


def _refused(code: str, text: str, field: Field) -> TurnRefused:
    return TurnRefused(f"{field}_{code}", text, field)
