"""One layer of a long short-term memory, in NumPy, on one thread."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]

# OpenBLAS shares a product of more than 2**18 multiplications among threads, which on a busy
# machine wait for each other: 3 s were measured for what one thread does in 0.3. Strips of 32
# columns stay below that for 32 rows of 256, and are as fast.
_STRIP = 32


def in_strips(weights: Array) -> Array:
    """PyTorch's weights as ``lstm`` takes them.

    Args:
        weights: Shape ``(O, I)``, float32, ``O`` a multiple of 32.

    Returns:
        Shape ``(O / 32, I, 32)``.
    """
    strips = weights.reshape(-1, _STRIP, weights.shape[1])
    return np.ascontiguousarray(strips.transpose(0, 2, 1))


def lstm(frames: Array, from_input: Array, from_hidden: Array, bias: Array) -> Array:
    """Run one layer over several sequences at once.

    Args:
        frames: Shape ``(T, W, I)``, float32: ``W`` sequences of ``T`` frames.
        from_input: Weights of the input for the gates in PyTorch's order, in strips.
        from_hidden: The same for the hidden state.
        bias: Shape ``(4 * H,)``, float32; the sum of PyTorch's two.

    Returns:
        The hidden states, shape ``(T, W, H)``, float32.
    """
    size = from_hidden.shape[1]
    hidden = np.zeros((frames.shape[1], size), np.float32)
    cell = np.zeros_like(hidden)
    outputs = np.empty((len(frames), *hidden.shape), np.float32)
    for step, frame in enumerate(frames):
        gates = _product(frame, from_input) + _product(hidden, from_hidden) + bias
        enter, keep, new, leave = np.split(gates, 4, axis=1)
        cell = _sigmoid(keep) * cell + _sigmoid(enter) * np.tanh(new)
        hidden = _sigmoid(leave) * np.tanh(cell)
        outputs[step] = hidden
    return outputs


def _product(rows: Array, strips: Array) -> Array:
    product: Array = (rows @ strips).transpose(1, 0, 2).reshape(len(rows), -1)
    return product


def _sigmoid(values: Array) -> Array:
    half: Array = np.float32(0.5) * np.tanh(np.float32(0.5) * values) + np.float32(0.5)
    return half  # never overflows, as the quotient of exponentials does
