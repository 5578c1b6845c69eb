"""The main colours of a frame by name."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

# Upper ends of the hues in OpenCV's half degrees, 0 to 180.
_HUES = (
    (10, "red"), (22, "orange"), (33, "yellow"), (85, "green"), (100, "cyan"), (130, "blue"),
    (150, "purple"), (170, "pink"), (180, "red"),
)  # fmt: skip
_NEVER_BELOW = 0.12  # share of the picture that a colour must cover to be named
_GREY_SATURATION, _BLACK_VALUE, _WHITE_VALUE = 45, 50, 200


def main_colours(image: NDArray[np.uint8], most: int = 3) -> list[str]:
    """Names of the colours that cover most of a frame, the largest first; never empty.

    Args:
        image: Shape ``(H, W, 3)``, uint8 RGB.
        most: Longest list.
    """
    small = cv2.resize(image, (96, 54), interpolation=cv2.INTER_AREA)
    hue, saturation, value = cv2.split(cv2.cvtColor(small, cv2.COLOR_RGB2HSV))
    names = np.array([name for _, name in _HUES])
    named = names[np.searchsorted([end for end, _ in _HUES], hue, side="left")]
    greyish = saturation < _GREY_SATURATION
    named = np.where(greyish, np.where(value > _WHITE_VALUE, "white", "grey"), named)
    named = np.where(value < _BLACK_VALUE, "black", named)
    found, counts = np.unique(named, return_counts=True)
    order = np.argsort(-counts)
    shares = counts / named.size
    return [str(found[at]) for place, at in enumerate(order[:most])
            if place == 0 or shares[at] >= _NEVER_BELOW]  # fmt: skip
