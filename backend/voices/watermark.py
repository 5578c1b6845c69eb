"""An inaudible mark in speech that was made: that of Perth, by Resemble AI, in NumPy.

Perth's network changes a little how loud the frequencies below 2 kHz are, and its detector finds
that again, also after MP3. The weights of the package alone are used, without the PyTorch and the
librosa that it imports; and the change alone is added, so that the sound itself is not resampled.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import soxr
from numpy.typing import NDArray

from backend.contract.media import Samples
from backend.voices.torch_weights import read_weights

# Of Perth 1.0.1: `hparams.yaml`, `normalize` in `utils.py`, and `magmask` in `model/__init__.py`.
_WEIGHTS = Path("perth_net", "pretrained", "implicit", "perth_net_250000.pth.tar")
_RATE = 32_000
_WINDOW, _HOP = 2048, 320
_BINS = 128  # of the spectrum, from 0 to 2 kHz: those that carry the mark
_LOWEST_DB, _RANGE_DB = -180.0, 195.0
_LOUD = 0.05  # share of the loudest frame's level; frames below it carry no mark
_LAYERS = 7
_SLOPE = np.float32(0.01)

_REACH = 15  # frames to one side that the network looks at
_BLOCK = 1000  # frames worked on at a time, 10 s: memory for more would grow with the sound

Array = NDArray[np.float32]
Spectrum = NDArray[np.complex64]
Network = Sequence[tuple[Array, Array]]


def installed() -> bool:
    """Whether the package ``resemble-perth`` is there."""
    return _weights_file() is not None


def watermarked(samples: Samples, sample_rate: int) -> Samples:
    """The same sound with the mark in it; as it is where the package is not installed.

    Blocks, for about 0.03 s for each second of sound, the first time 0.2 s more. Threads may
    share it.

    Args:
        samples: Shape ``(N,)``, float32 mono, full scale at ±1.
        sample_rate: Its rate in hertz.

    Returns:
        Shape ``(N,)``, float32, within ±1. Silence, and sound of less than 64 ms, come back as
        they are.
    """
    path = _weights_file()
    if path is None or len(samples) * _RATE <= _WINDOW * sample_rate or not samples.any():
        return samples
    mark = _mark(soxr.resample(samples, sample_rate, _RATE), _network(path))
    at_rate = soxr.resample(mark, _RATE, sample_rate)[: len(samples)]
    marked = samples.copy()
    marked[: len(at_rate)] += at_rate
    return np.clip(marked, -1.0, 1.0)


def _mark(samples: Samples, network: Network) -> Samples:
    """What is added to a sound at 32 kHz; as long as it."""
    padded = np.pad(samples, _WINDOW // 2, mode="reflect")
    count = 1 + len(samples) // _HOP
    blocks = list(pairwise([*range(0, count, _BLOCK), count]))
    levels = [_levels(_spectrum(padded, *block)).sum(axis=1) for block in blocks]
    loud = np.concatenate(levels) > _LOUD * max(level.max() for level in levels)
    mark, weight = np.zeros_like(padded), np.zeros_like(padded)
    for start, end in blocks:
        first = max(0, start - _REACH)
        spectrum = _spectrum(padded, first, min(count, end + _REACH))
        gains_db = _RANGE_DB * _gains(_levels(spectrum)[:, :_BINS], network)
        change = spectrum[:, :_BINS] * (10 ** (gains_db / 20) - 1)
        here = slice(start - first, end - first)
        _overlap_add(mark, weight, start, change[here] * loud[start:end, None])
    half = _WINDOW // 2
    return mark[half:-half] / weight[half:-half]


def _spectrum(padded: Samples, first: int, last: int) -> Spectrum:
    """Frames ``first`` to ``last``; shape ``(last - first, 1025)``."""
    part = padded[first * _HOP : (last - 1) * _HOP + _WINDOW]
    frames = np.lib.stride_tricks.sliding_window_view(part, _WINDOW)[::_HOP]
    return np.fft.rfft(frames * _window(), axis=1).astype(np.complex64, copy=False)


def _overlap_add(mark: Samples, weight: Samples, first: int, change: Spectrum) -> None:
    """Add the sound of frames from ``first`` on, and what it has been weighted with."""
    window = _window()
    for index, frame in enumerate(np.fft.irfft(change, _WINDOW, axis=1) * window, first):
        place = slice(index * _HOP, index * _HOP + _WINDOW)
        mark[place] += frame
        weight[place] += window**2


@lru_cache(maxsize=1)
def _window() -> Array:
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_WINDOW) / _WINDOW)
    return hann.astype(np.float32)


def _levels(spectrum: Spectrum) -> Array:
    """Loudness as Perth's network takes it: -180 dB is 0, 15 dB is 1."""
    decibels = 20 * np.log10(np.maximum(np.abs(spectrum), 10 ** (_LOWEST_DB / 20)))
    return ((decibels - _LOWEST_DB) / _RANGE_DB).astype(np.float32, copy=False)


def _gains(levels: Array, network: Network) -> Array:
    """How much louder each of the lowest 128 bins has to be; shape ``(T, 128)`` as ``levels``."""
    values: Array = levels
    for number, (kernel, bias) in enumerate(network, 1):
        side = len(kernel) // 2
        around = np.pad(values, ((side, side), (0, 0)))
        values = np.tile(bias, (len(levels), 1))
        for shift, part in enumerate(kernel):
            values += around[shift : shift + len(levels)] @ part
        if number < _LAYERS:
            np.maximum(values, _SLOPE * values, out=values)
    return values


@lru_cache(maxsize=1)
def _network(path: Path) -> Network:
    """Kernel, shape ``(width, inputs, outputs)``, and bias of each layer; read once."""
    weights = read_weights(path, "model")
    layers = [f"encoder.layers.{number}.conv" for number in range(_LAYERS)]
    kernels = [weights[f"{layer}.weight"].transpose(2, 1, 0) for layer in layers]
    biases = [weights[f"{layer}.bias"] for layer in layers]
    return [
        (np.ascontiguousarray(kernel), bias) for kernel, bias in zip(kernels, biases, strict=True)
    ]


def _weights_file() -> Path | None:
    spec = find_spec("perth")  # does not run the package, which needs PyTorch
    path = Path(spec.origin).parent / _WEIGHTS if spec and spec.origin else None
    return path if path and path.exists() else None
