"""What moves in a row of frames, in coarse words."""

from __future__ import annotations

from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

_SIZE = (160, 90)
_MOVED = 18  # change of luma out of 255 that is more than noise
_STILL_SHARE, _CAMERA_SHARE = 0.004, 0.35  # shares of the picture that changed
_MIN_TRAVEL = 0.12  # of the picture's width or height


def describe_motion(images: NDArray[np.uint8]) -> str:
    """What moves, and where to.

    Args:
        images: Shape ``(T, H, W, 3)``, uint8 RGB, ``T >= 2``, in order of time.
    """
    frames = [_small_grey(image) for image in images]
    changed = [
        np.abs(after.astype(np.int16) - before) > _MOVED for before, after in pairwise(frames)
    ]
    shares = [float(mask.mean()) for mask in changed]
    if max(shares) < _STILL_SHARE:
        return "Nothing moves"
    if float(np.median(shares)) > _CAMERA_SHARE:
        return "The camera moves or the whole picture changes"
    return f"Something moves{_direction(frames)}"


def _small_grey(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    grey: NDArray[np.uint8] = cv2.cvtColor(
        cv2.resize(image, _SIZE, interpolation=cv2.INTER_AREA), cv2.COLOR_RGB2GRAY
    )
    return grey


def _direction(frames: list[NDArray[np.uint8]]) -> str:
    """Where the centre of what differs from the middle background goes, or nothing."""
    background = np.median(np.stack(frames), axis=0)
    centres = [
        centre
        for frame in frames
        if (centre := _centre(np.abs(frame - background) > _MOVED)) is not None
    ]
    if len(centres) < 2:
        return ""
    across, down = (np.subtract(centres[-1], centres[0])) / np.array(_SIZE)
    if max(abs(across), abs(down)) < _MIN_TRAVEL:
        return ""
    if abs(across) >= abs(down):
        return " from left to right" if across > 0 else " from right to left"
    return " downwards" if down > 0 else " upwards"


def _centre(mask: NDArray[np.bool_]) -> tuple[float, float] | None:
    rows, columns = np.nonzero(mask)
    return (float(columns.mean()), float(rows.mean())) if len(rows) else None
