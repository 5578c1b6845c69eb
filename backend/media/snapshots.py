"""Intake of a call's pictures: JPEG files that a page makes of a camera or a screen."""

from __future__ import annotations

import io
import logging
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from backend.contract.media import VideoFrames

log = logging.getLogger(__name__)

MAX_SIDE = 1280
"""Pixels that a snapshot may have on its long side; the page sends 640."""

KEPT = 4
"""Snapshots that go into one question: small engines take their time over each."""

LATEST_S = 8.0
"""Age in seconds up to which a snapshot belongs to a question."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One JPEG file, and when it came in ``time.monotonic()`` seconds."""

    at: float
    jpeg: bytes


class Snapshots:
    """The newest pictures of one camera."""

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self._newest: deque[Snapshot] = deque(maxlen=KEPT)

    def add(self, jpeg: bytes) -> None:
        """Take the next picture."""
        self._newest.append(Snapshot(time.monotonic(), jpeg))

    def recent(self) -> tuple[Snapshot, ...]:
        """Those that a question of now is about, oldest first."""
        horizon = time.monotonic() - LATEST_S
        return tuple(one for one in self._newest if one.at > horizon)


def decode_snapshots(snapshots: Sequence[Snapshot]) -> VideoFrames | None:
    """The newest snapshots as frames; none when there is none that can be read.

    Those of another size than the newest are left out: the camera was turned or changed.
    """
    read = [(one.at, image) for one in snapshots if (image := _read(one.jpeg)) is not None]
    if not read:
        return None
    newest = read[-1][1]
    fitting = [(at, image) for at, image in read if image.shape == newest.shape]
    times = np.array([at - fitting[0][0] for at, _ in fitting])
    return VideoFrames(np.stack([image for _, image in fitting]), times, float(times[-1]))


def brightness(image: NDArray[np.uint8]) -> NDArray[np.float32]:
    """How bright a picture of shape ``(H, W, 3)`` is in 24 by 24 places, each 0 to 1."""
    small = Image.fromarray(image).convert("L").resize((24, 24), Image.Resampling.BOX)
    shares: NDArray[np.float32] = np.asarray(small, np.float32) / np.float32(255)
    return shares


def _read(jpeg: bytes) -> NDArray[np.uint8] | None:
    try:
        with Image.open(io.BytesIO(jpeg), formats=("JPEG",)) as image:
            if max(image.size) > MAX_SIDE:
                return None
            return np.array(image.convert("RGB"), np.uint8)
    except Exception as error:  # Pillow's readers raise many kinds on broken files
        log.info("a snapshot could not be read: %r", error)
        return None
