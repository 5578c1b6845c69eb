"""How likely it is, 31 times a second, that somebody speaks: silero VAD on a stream."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from backend.contract.media import Samples

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

SAMPLE_RATE = 16_000
"""Rate that the detector was trained on, in hertz."""

WINDOW = 512
"""Samples that one likelihood stands for: 32 ms."""

_CONTEXT = 64


class VoiceActivity:
    """Follows one stream of sound. The model is shared; its state belongs to the stream."""

    def __init__(self) -> None:
        """Begin with silence."""
        self.reset()

    def reset(self) -> None:
        """Forget the sound so far."""
        self._hidden = np.zeros((1, 1, 128), np.float32)
        self._cell = np.zeros((1, 1, 128), np.float32)
        self._context = np.zeros(_CONTEXT, np.float32)

    def likelihood(self, window: Samples) -> float:
        """How likely somebody speaks in the next 32 ms, 0 to 1; takes about 0.2 ms.

        Args:
            window: Shape ``(512,)``, float32 at 16 kHz, right after the one before.
        """
        framed = np.concatenate((self._context, window))[np.newaxis]
        self._context = window[-_CONTEXT:]
        state: dict[str, Any] = {"input": framed, "h": self._hidden, "c": self._cell}
        likelihood, self._hidden, self._cell = _model().run(None, state)
        return float(likelihood.item())


@lru_cache(maxsize=1)
def _model() -> InferenceSession:
    """Silero VAD v6, which faster-whisper brings along, on one thread."""
    import onnxruntime

    found = find_spec("faster_whisper")
    if found is None or found.origin is None:
        raise RuntimeError("A call needs the package faster-whisper, which brings silero VAD.")
    options = onnxruntime.SessionOptions()
    options.inter_op_num_threads = options.intra_op_num_threads = 1
    options.log_severity_level = 4
    path = Path(found.origin).parent / "assets" / "silero_vad_v6.onnx"
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
