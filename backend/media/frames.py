"""From a decoded frame to an upright RGB picture of bounded size."""

from __future__ import annotations

from fractions import Fraction

import av
import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]
"""Shape ``(H, W, 3)``, uint8 RGB."""


def to_picture(
    frame: av.VideoFrame, long_side: int, pixel_aspect: Fraction | None = None
) -> Picture:
    """Scale a PyAV frame and turn it upright.

    Args:
        frame: The decoded frame; its display matrix, if any, says how it is to be seen.
        long_side: The longest side allowed, in pixels. Small frames are not enlarged.
        pixel_aspect: Width of a pixel over its height; none for square ones.
    """
    shown_width = frame.width * float(pixel_aspect or 1)
    scale = min(1.0, long_side / max(shown_width, frame.height))
    small = _scaled(frame, shown_width * scale, frame.height * scale)
    # A frame whose side data was looked at is freed late; it must be the small one.
    return _upright(small.to_ndarray(), _matrix(small))


def fit(picture: Picture, height: int, width: int) -> Picture:
    """Bring a picture of another size to ``(height, width)``, with black beside it.

    A video may change its size on the way, such as when a phone is turned.
    """
    if picture.shape[:2] == (height, width):
        return picture
    scale = min(height / picture.shape[0], width / picture.shape[1])
    frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
    inner = _scaled(frame, picture.shape[1] * scale, picture.shape[0] * scale).to_ndarray()
    canvas = np.zeros((height, width, 3), np.uint8)
    top, left = (height - inner.shape[0]) // 2, (width - inner.shape[1]) // 2
    canvas[top : top + inner.shape[0], left : left + inner.shape[1]] = inner
    return canvas


def _scaled(frame: av.VideoFrame, width: float, height: float) -> av.VideoFrame:
    size = {"width": max(1, round(width)), "height": max(1, round(height))}
    return frame.reformat(format="rgb24", interpolation="AREA", **size)


def _matrix(frame: av.VideoFrame) -> NDArray[np.int32] | None:
    data = frame.side_data.get("DISPLAYMATRIX")
    return None if data is None else np.frombuffer(data, np.int32).reshape(3, 3)


def _upright(picture: Picture, matrix: NDArray[np.int32] | None) -> Picture:
    """Apply a display matrix, rounded to a quarter turn, with or without a mirror.

    The matrix takes ``(x, y, 1)`` as a row: its first row says where a step to the right goes,
    its second where a step down goes.
    """
    if matrix is None:
        return picture
    right_x, right_y = int(matrix[0, 0]), int(matrix[0, 1])
    down_x, down_y = int(matrix[1, 0]), int(matrix[1, 1])
    if abs(right_y) > abs(right_x):
        picture = picture.transpose(1, 0, 2)
        right_x, down_y = down_x, right_y
    if right_x < 0:
        picture = picture[:, ::-1]
    if down_y < 0:
        picture = picture[::-1]
    return np.ascontiguousarray(picture)
