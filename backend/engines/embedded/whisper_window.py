"""faster-whisper with an encoder window that may be shorter than 30 s."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from faster_whisper import WhisperModel
from numpy.typing import NDArray
from tqdm import tqdm  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from ctranslate2 import StorageView  # type: ignore[import-untyped]


# The library makes a progress bar that is never shown, and with it a thread that never ends.
tqdm.monitor_interval = 0


class WindowedWhisper(WhisperModel):  # type: ignore[misc]  # the library has no types
    """Pads a clip to ``window`` mel frames of 10 ms where the library always pads to 3000.

    Attributes:
        window: Mel frames that are encoded.
        step: Called before and after each window is encoded, and may raise to leave the work.
            These are the only points that the library gives inside a window: while it decodes
            the words of one, nothing can be told and nothing stopped.
    """

    window = 3000
    step: Callable[[], None] | None = None

    def encode(self, features: NDArray[np.float32]) -> StorageView:
        """Encode the first ``window`` frames; the rest of a shorter clip is padding alone."""
        if self.step is not None:
            self.step()
        encoded = super().encode(np.ascontiguousarray(features[..., : self.window]))
        if self.step is not None:
            self.step()
        return encoded
