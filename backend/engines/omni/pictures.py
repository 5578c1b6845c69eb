"""Frames as Qwen3-VL's processor takes them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.contract.media import VideoFrames

CELL = 32
"""Pixels a side of what one visual token covers: Qwen3-VL's patches of 16, merged two by two."""

_FRAMES_A_STEP = 2
_TICKS_A_SECOND = 1000
_TIMESTAMP_TOKENS = 12
"""Upper estimate of what ``<12.3 seconds>`` and its two brackets take."""


def vision_input(frames: VideoFrames) -> dict[str, Any]:
    """``multi_modal_data`` for one clip or, from a single frame, one picture.

    A clip is handed over as ``(frames, metadata)`` with a time for each frame: the processor
    divides ``frames_indices`` by ``fps``, so indices in milliseconds keep the true times.
    """
    images = np.stack([to_cells(image) for image in frames.images])
    if len(images) == 1:
        from PIL import Image

        return {"image": Image.fromarray(images[0])}
    metadata = {
        "fps": float(_TICKS_A_SECOND),
        "duration": float(frames.duration_s),
        "total_num_frames": max(1, round(frames.duration_s * _TICKS_A_SECOND)),
        "frames_indices": [round(at * _TICKS_A_SECOND) for at in frames.times_s],
        "video_backend": "opencv",
        "do_sample_frames": False,
    }
    return {"video": [(images, metadata)]}


def to_cells(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A picture of shape ``(H, W, 3)`` with both sides scaled to whole cells.

    The processor would do the same, with a slower filter and under a lock.
    """
    import cv2

    height, width = (max(CELL, round(side / CELL) * CELL) for side in image.shape[:2])
    if (height, width) == image.shape[:2]:
        return image
    scaled = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)
    return np.asarray(scaled, dtype=np.uint8)


def vision_tokens(frames: VideoFrames | None) -> int:
    """Tokens that the frames take in the prompt, rounded up."""
    if frames is None:
        return 0
    count, height, width = (int(size) for size in frames.images.shape[:3])
    cells = max(1, round(height / CELL)) * max(1, round(width / CELL))
    steps = math.ceil(count / _FRAMES_A_STEP)
    return steps * (cells + _TIMESTAMP_TOKENS)
