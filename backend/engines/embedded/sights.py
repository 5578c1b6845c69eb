"""What was seen last, so that a scene that stays as it is is not looked at again."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from backend.contract.media import VideoFrames
from backend.engines.embedded.stages import Eyes, StopSignal

KEPT_S = 10.0
"""Age in seconds up to which notes still tell what there is to see."""

_SIDE, _BLOCK = 64, 8  # pixels of the small pictures that are compared, and of a place in them
# Mean difference of grey, of full scale: of the whole, as for the frames worth reading, and of one
# place. A head that moves while it speaks changes a place by 0.15; a card held up, by 0.3 and more.
_WHOLE, _PLACE = 0.06, 0.2
_MOST_SESSIONS = 64

Small = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Sight:
    at: float
    frames: tuple[Small, ...]
    notes: str


class Sights:
    """Looks with an engine's eyes, and remembers it for each session. Used by one thread."""

    def __init__(self, eyes: Eyes, clock: Callable[[], float] = time.monotonic) -> None:
        """Nothing was seen yet. ``clock`` tells seconds."""
        self._eyes = eyes
        self._clock = clock
        self._last: dict[str, _Sight] = {}

    def look(self, session_id: str, frames: VideoFrames, stop: StopSignal) -> str:
        """What can be seen, in a few plain words; see ``Eyes.look``.

        Args:
            session_id: Who shows it; what one person shows is never told to another.
            frames: The frames. Where each of them is like one that was looked at shortly before,
                the notes of then are given at once.
            stop: Ends a look before its next frame; only what was looked at whole is remembered.
        """
        small = tuple(_small(image) for image in frames.images)
        last = self._last.get(session_id)
        fresh = last is not None and self._clock() - last.at <= KEPT_S
        if last is not None and fresh and _known(small, last.frames):
            return last.notes
        notes = self._eyes.look(frames, stop)
        self._last.pop(session_id, None)
        if notes:
            self._last[session_id] = _Sight(self._clock(), small, notes)
        while len(self._last) > _MOST_SESSIONS:
            del self._last[next(iter(self._last))]
        return notes


def _known(frames: tuple[Small, ...], seen: tuple[Small, ...]) -> bool:
    return all(any(_alike(one, other) for other in seen) for one in frames)


def _alike(one: Small, other: Small) -> bool:
    difference = np.abs(one - other)
    places = difference.reshape(_SIDE // _BLOCK, _BLOCK, _SIDE // _BLOCK, _BLOCK).mean((1, 3))
    return bool(difference.mean() < _WHOLE and places.max() < _PLACE)


def _small(image: NDArray[np.uint8]) -> Small:
    """A frame of shape ``(H, W, 3)``, uint8 RGB, in 64 by 64 grey places, each 0 to 1."""
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    small = cv2.resize(grey, (_SIDE, _SIDE), interpolation=cv2.INTER_AREA)
    shares: Small = small.astype(np.float32) / np.float32(255)
    return shares
