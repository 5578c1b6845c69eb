"""From the files that come with a question to what an engine takes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backend.contract.errors import Field, TurnRefused
from backend.contract.media import AudioClip, VideoFrames
from backend.media import image, video
from backend.media.audio import decode, from_samples
from backend.media.limits import MediaLimits


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """The sound and the pictures of one question.

    Attributes:
        attachments: Words for what came, such as ``Recording, 3.2 s``.
        notices: What the person should know about it.
    """

    audio: AudioClip | None = None
    frames: VideoFrames | None = None
    attachments: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


Recorded = tuple[NDArray[np.int16], int]
"""Samples of shape ``(N,)`` with their rate, as the page recorded them."""


def read_question(
    audio: Recorded | Path | None,
    video_path: Path | None,
    image_path: Path | None,
    limits: MediaLimits,
) -> Question:
    """Decode what came with a question. Blocks: call it from a worker thread.

    A recording of its own is the question; without one, the video's sound track is.

    Raises:
        TurnRefused: a file cannot be used, or two of them contradict each other.
    """
    if video_path and image_path:
        raise TurnRefused(
            "video_and_image", "Send a video or a picture, not both at once.", Field.IMAGE
        )
    clip = _clip(audio, limits) if audio else None
    attachments = [f"Recording, {clip.duration_s:.1f} s"] if clip else []
    notices: tuple[str, ...] = ()
    frames = None
    if video_path:
        film = video.decode(video_path, limits)
        frames = film.frames
        attachments.append(f"Video, {frames.duration_s:.1f} s, {len(frames.images)} frames")
        notices = film.notices
        if clip is None:
            clip, notices = film.audio, (*notices, *film.sound_notices)
    elif image_path:
        frames = image.decode(image_path, limits)
        attachments.append("Picture")
    return Question(clip, frames, tuple(attachments), notices)


def _clip(audio: Recorded | Path, limits: MediaLimits) -> AudioClip:
    return decode(audio, limits) if isinstance(audio, Path) else from_samples(*audio)
