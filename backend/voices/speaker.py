"""Whose voice it is, as a direction: the GE2E speaker encoder, in NumPy."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backend.contract.media import Samples
from backend.engines.failures import ModelMissing
from backend.voices.lstm import in_strips, lstm
from backend.voices.mel import HOP, SAMPLE_RATE, mel_spectrogram
from backend.voices.torch_weights import Weights, read_weights

Embedding = NDArray[np.float32]
"""Shape ``(256,)``, float32, length 1, nothing below 0."""

# Sizes and steps of Resemblyzer 0.1.4, `hparams.py` and `VoiceEncoder.embed_utterance`.
_WINDOW = 160  # frames: 1.6 s
_STEP = 77  # frames: 1.3 windows a second
_LEAST_OF_LAST = 0.75  # share of the last window that has to be sound
_LEVEL_DB = -30.0
_LAYERS = 3

WINDOW_S = _WINDOW * HOP / SAMPLE_RATE
"""Length of speech, in seconds, that the encoder hears at once."""

MOST_WINDOWS = 24
"""A longer speech is heard in so many windows, spread evenly: about 20 s of it. Voices are told
apart by 5 s (Wan et al. 2018, "Generalized end-to-end loss", section 3)."""


class SpeakerEncoder:
    """The network of Wan et al. 2018: three LSTM layers, a linear one, rectified and normed.

    Holds nothing that changes, so that threads may share it.
    """

    def __init__(self, weights: dict[str, Weights]) -> None:
        """``weights`` by PyTorch's names, as Resemblyzer keeps them."""
        self._layers = [
            (
                in_strips(weights[f"lstm.weight_ih_l{layer}"]),
                in_strips(weights[f"lstm.weight_hh_l{layer}"]),
                weights[f"lstm.bias_ih_l{layer}"] + weights[f"lstm.bias_hh_l{layer}"],
            )
            for layer in range(_LAYERS)
        ]
        self._linear = weights["linear.weight"].T
        self._bias = weights["linear.bias"]

    def embed(self, speech: Samples) -> Embedding:
        """The direction of the voice in ``speech``, as ``embed_windows`` takes it."""
        return normed(self.embed_windows(speech).mean(axis=0))

    def embed_windows(self, speech: Samples) -> NDArray[np.float32]:
        """The direction of the voice in each window of 1.6 s.

        Args:
            speech: Shape ``(N,)``, float32 at 16 kHz, without long pauses, at any level. Less
                than 1.6 s is filled up with silence.

        Returns:
            Shape ``(W, 256)``, float32, ``1 <= W <= MOST_WINDOWS``, each row of length 1; rows
            of silence are 0.
        """
        starts = window_starts(len(speech))
        length = max(len(speech), (starts[-1] + _WINDOW) * HOP)
        mels = mel_spectrogram(np.pad(_levelled(speech), (0, length - len(speech))))
        frames = np.stack([mels[start : start + _WINDOW] for start in starts], axis=1)
        hidden = frames
        for layer in self._layers:
            hidden = lstm(hidden, *layer)
        return normed(np.maximum(hidden[-1] @ self._linear + self._bias, 0.0))


def window_starts(length: int) -> list[int]:
    """First frames of the windows of a speech of ``length`` samples; never none."""
    frames = -(-(length + 1) // HOP)
    starts = list(range(0, max(1, frames - _WINDOW + _STEP + 1), _STEP))
    left = length / HOP - starts[-1]
    if len(starts) > 1 and left < _LEAST_OF_LAST * _WINDOW:
        starts.pop()
    if len(starts) > MOST_WINDOWS:
        return [int(start) for start in np.linspace(0, starts[-1], MOST_WINDOWS)]
    return starts


def normed(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Vectors along the last axis, brought to length 1; those of length 0 are left."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    directions: NDArray[np.float32] = vectors / np.maximum(lengths, np.float32(1e-9))
    return directions


@lru_cache(maxsize=1)
def load_encoder() -> SpeakerEncoder:
    """The encoder with Resemblyzer's weights, read once for the process.

    Raises:
        ModelMissing: The package is not installed.
    """
    spec = find_spec("resemblyzer")  # does not run the package, which needs PyTorch
    for place in (spec.submodule_search_locations or []) if spec else []:
        path = Path(place) / "pretrained.pt"
        if path.exists():
            return SpeakerEncoder(read_weights(path, "model_state"))
    raise ModelMissing("The speaker encoder is missing. Install the package resemblyzer.")


def _levelled(speech: Samples) -> Samples:
    """At the level that the encoder was trained at: without a logarithm, loudness matters."""
    power = float(np.mean(np.square(speech, dtype=np.float64))) if speech.size else 0.0
    gain = 10 ** (_LEVEL_DB / 20) / power**0.5 if power > 0 else 0.0
    levelled: Samples = speech * np.float32(gain)
    return levelled
