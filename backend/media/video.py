"""Intake of video: a few upright frames with their times, and the sound track."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np
from av.container import InputContainer
from av.stream import Disposition

from backend.contract.errors import Field, TurnRefused
from backend.contract.media import AudioClip, VideoFrames
from backend.media import audio, frames, refusals
from backend.media.container import (
    VIDEO_DEMUXERS,
    breaks_off,
    check_file,
    open_media,
    promised_s,
)
from backend.media.frame_reader import FrameReader
from backend.media.limits import MediaLimits
from backend.media.timeline import Timeline, read_timeline

# 8K is 33 million; beyond it one frame alone fills hundreds of megabytes.
_MAX_PIXELS = 36_000_000

# Each decoding thread holds a frame of full size.
_THREADS = 4


@dataclass(frozen=True, slots=True, eq=False)
class DecodedVideo:
    """What was taken from a video.

    Attributes:
        frames: The sampled frames; times count from the first picture.
        audio: The whole sound track at 16 kHz, or none.
        notices: Sentences for the person on the pictures, such as that they break off.
        sound_notices: Likewise on the sound; they matter when it is the question.
    """

    frames: VideoFrames
    audio: AudioClip | None
    notices: tuple[str, ...]
    sound_notices: tuple[str, ...]


def decode(path: Path, limits: MediaLimits) -> DecodedVideo:
    """Decode a video whatever its name: MP4, MOV, WebM, MKV or AVI.

    Frames are spread evenly in time from the first to the last, at most ``limits.max_frames``,
    turned upright, with no side over ``limits.long_side``. Packets that no chosen frame needs
    are not decoded, and only the chosen frames are kept.

    Args:
        path: The file.
        limits: Bounds on bytes, seconds, frames and pixels.

    Raises:
        TurnRefused: ``video_unreadable``, ``video_too_large``, ``video_too_long``,
            ``video_too_many_pixels``, ``video_no_pictures`` or ``video_damaged``.
    """
    check_file(path, limits, Field.VIDEO)
    with open_media(path, Field.VIDEO, VIDEO_DEMUXERS) as container:
        stream = _picture_stream(container)
        timeline = read_timeline(container, stream)
        promised = promised_s(container, stream)
        has_sound = bool(container.streams.audio)
    if timeline.duration_s > limits.max_video_s + audio.LENGTH_SLACK_S:
        raise refusals.too_long(timeline.duration_s, limits.max_video_s, Field.VIDEO)

    notices = []
    if breaks_off(timeline.duration_s, promised):
        notices.append(
            f"This video breaks off after {refusals.in_words(timeline.duration_s)} of "
            f"{refusals.in_words(promised)}; what there is of it was used."
        )
    seen, damaged = _sample(path, timeline, limits)
    if damaged:
        notices.append("Parts of this video are damaged and were left out.")
    sound, sound_notices = _sound_track(path, limits, has_sound)
    return DecodedVideo(seen, sound, tuple(notices), sound_notices)


def _picture_stream(container: InputContainer) -> av.VideoStream:
    stream = container.streams.best("video")
    if not isinstance(stream, av.VideoStream) or stream.disposition & Disposition.attached_pic:
        text = "This file has sound but no moving pictures. Send it as a recording."
        if not container.streams.audio:
            text = "This file has no moving pictures."
        raise TurnRefused("video_no_pictures", text, Field.VIDEO)
    context = stream.codec_context
    if context is None:
        raise refusals.unreadable(Field.VIDEO)
    if context.width * context.height > _MAX_PIXELS:
        raise refusals.too_many_pixels(context.width, context.height, _MAX_PIXELS, Field.VIDEO)
    # The size may still grow on the way.
    context.options = {"max_pixels": str(_MAX_PIXELS)}
    context.thread_type, context.thread_count = "AUTO", _THREADS
    return stream


def _sound_track(
    path: Path, limits: MediaLimits, has_sound: bool
) -> tuple[AudioClip | None, tuple[str, ...]]:
    """The sound, or none and the reason. Only its length can make the video refused."""
    if not has_sound:
        return None, ("This video has no sound.",)
    try:
        return audio.decode(path, limits, field=Field.VIDEO), ()
    except TurnRefused as refusal:
        if refusal.code == "video_too_long":
            raise
        if refusal.code == "video_too_short":
            return None, ("The sound of this video is too short to hold a word.",)
        return None, ("The sound of this video could not be read.",)


def _sample(path: Path, timeline: Timeline, limits: MediaLimits) -> tuple[VideoFrames, bool]:
    """The chosen frames, and whether damage was met on the way to them."""
    wanted = timeline.choose(limits.max_frames)
    pictures: list[frames.Picture] = []
    times: list[float] = []
    with open_media(path, Field.VIDEO, VIDEO_DEMUXERS) as container:
        stream = _picture_stream(container)
        reader = FrameReader(container, stream, timeline, wanted)
        for stamp, frame in reader:
            picture = frames.to_picture(frame, limits.long_side, stream.sample_aspect_ratio)
            if pictures:
                picture = frames.fit(picture, *pictures[0].shape[:2])
            pictures.append(picture)
            times.append(timeline.seconds(stamp))
    if not pictures:
        text = "No picture of this video could be decoded; it seems to be damaged."
        raise TurnRefused("video_damaged", text, Field.VIDEO)
    shown = VideoFrames(np.stack(pictures), np.asarray(times, np.float64), timeline.duration_s)
    return shown, reader.damaged
