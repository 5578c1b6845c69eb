"""Frames to words: text in them, motion, light and colours, without a vision model."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from backend.contract.media import VideoFrames
from backend.engines.embedded.colours import main_colours
from backend.engines.embedded.motion import describe_motion
from backend.engines.embedded.stages import StopSignal

MAX_READ_FRAMES = 3
"""Most frames that are searched for text; each takes about 0.2 s on two cores."""

# The detector reads a sign at this size in a fifth of the time of its default, 736 at the least.
_READ_LONG_SIDE = 480
_MIN_READ_SCORE = 0.7
_MAX_READ_CHARS = 200
_DIFFERENT = 0.06  # mean absolute difference of small grey pictures, of full scale
_DARK, _BRIGHT = 60, 170  # mean luma out of 255


class SceneEyes:
    """Notes on frames, with PP-OCR for the text. Used by one thread at a time."""

    def __init__(self, threads: int) -> None:
        """``threads`` is the number of CPU threads for reading text."""
        self._threads = threads
        self._reader: Any = None

    def load(self) -> None:
        """Bring the reader up and run it once."""
        from rapidocr import RapidOCR

        self._reader = RapidOCR(
            params={
                "Global.log_level": "critical",
                "Global.use_cls": False,
                "Det.limit_type": "max",
                "Det.limit_side_len": _READ_LONG_SIDE,
                "EngineConfig.onnxruntime.intra_op_num_threads": self._threads,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            }
        )
        self._read(np.full((360, 640, 3), 128, np.uint8))

    def close(self) -> None:
        """Free the model. Harmless before ``load`` and twice."""
        self._reader = None

    def look(self, frames: VideoFrames, stop: StopSignal) -> str:
        """What can be seen, in a few plain words.

        Args:
            frames: The frames; the few that differ most are searched for text.
            stop: Looked at before each frame is read.
        """
        texts: list[str] = []
        for index in telling_frames(frames.images):
            if stop.is_set():
                return ""
            texts += [text for text in self._read(frames.images[index]) if text not in texts]
        middle = frames.images[len(frames.images) // 2]
        notes = [f"{describe_light(middle)}.", f"Main colours: {', '.join(main_colours(middle))}."]
        if frames.duration_s > 0 and len(frames.images) > 1:
            notes.append(f"{describe_motion(frames.images)}.")
        if texts:
            notes.append(f'Text that can be read: "{" / ".join(texts)[:_MAX_READ_CHARS]}".')
        return " ".join(notes)

    def _read(self, image: NDArray[np.uint8]) -> list[str]:
        result = self._reader(cv2.cvtColor(image, cv2.COLOR_RGB2BGR), use_cls=False)
        lines = zip(result.txts or (), result.scores or (), strict=True)
        return [text.strip() for text, score in lines if score >= _MIN_READ_SCORE and text.strip()]


def telling_frames(images: NDArray[np.uint8], most: int = MAX_READ_FRAMES) -> list[int]:
    """Indices of the frames worth reading, in order: the sharpest, then those that differ.

    Args:
        images: Shape ``(T, H, W, 3)``, uint8 RGB.
        most: Longest list.
    """
    small = [cv2.resize(_grey(image), (64, 36), interpolation=cv2.INTER_AREA) for image in images]
    sharpness = [cv2.Laplacian(_grey(image), cv2.CV_32F).var() for image in images]
    chosen = [int(np.argmax(sharpness))]
    while len(chosen) < min(most, len(images)):
        distances = [min(_difference(one, small[other]) for other in chosen) for one in small]
        furthest = int(np.argmax(distances))
        if distances[furthest] < _DIFFERENT:
            break
        chosen.append(furthest)
    return sorted(chosen)


def describe_light(image: NDArray[np.uint8]) -> str:
    """Whether a frame of shape ``(H, W, 3)``, uint8 RGB, is dark, bright or between."""
    luma = float(_grey(image).mean())
    if luma < _DARK:
        return "It is dark"
    return "It is bright" if luma > _BRIGHT else "The light is medium"


def _grey(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    grey: NDArray[np.uint8] = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    return grey


def _difference(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    return float(np.abs(one.astype(np.int16) - other).mean() / 255)
