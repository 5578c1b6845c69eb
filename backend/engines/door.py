"""What no engine can take, whatever its models: checked at the door of each."""

from __future__ import annotations

import numpy as np

from backend.contract.errors import Field, TurnRefused
from backend.contract.media import AudioClip, VideoFrames


def check_audio(clip: AudioClip, name: str = "recording", field: Field = Field.AUDIO) -> None:
    """Refuse what is not mono float sound.

    Args:
        clip: The sound.
        name: What the person calls it.
        field: Where it was given.

    Raises:
        TurnRefused: ``audio_empty``, ``audio_format`` or ``audio_not_finite``.
    """
    if clip.samples.size == 0:
        raise TurnRefused("audio_empty", f"This {name} is empty.", field)
    if clip.samples.ndim != 1 or clip.samples.dtype != np.float32 or clip.sample_rate <= 0:
        text = f"This {name} is not mono float sound at a known rate."
        raise TurnRefused("audio_format", text, field)
    if not np.isfinite(clip.samples).all():
        text = f"This {name} is damaged: some of its samples are not numbers."
        raise TurnRefused("audio_not_finite", text, field)


def check_frames(frames: VideoFrames) -> None:
    """Refuse what are not RGB pictures.

    Raises:
        TurnRefused: ``frames_format``.
    """
    shape = frames.images.shape
    if len(shape) != 4 or shape[3] != 3 or 0 in shape or frames.images.dtype != np.uint8:
        raise TurnRefused("frames_format", "These pictures are not RGB pictures.", Field.VIDEO)
