"""A question that is being recorded: its sound arrives while the person still speaks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Recording:
    """Collects mono PCM16 up to a length; what comes after that is left out, and ``full`` says so.

    Belongs to the web server's loop.
    """

    def __init__(self, max_s: float) -> None:
        """Start empty, with room for ``max_s`` seconds."""
        self._max_s = max_s
        self._pcm = bytearray()
        self._sample_rate = 0

    @property
    def full(self) -> bool:
        """True once there is no room for more."""
        return self._sample_rate > 0 and len(self._pcm) >= self._room

    @property
    def begun(self) -> bool:
        """True while there is anything in it."""
        return bool(self._pcm)

    def append(self, pcm16: bytes, sample_rate: int) -> None:
        """Add little-endian PCM16; a new sample rate begins a new recording."""
        if sample_rate != self._sample_rate:
            self.clear()
            self._sample_rate = sample_rate
        self._pcm += pcm16[: self._room - len(self._pcm)]

    def clear(self) -> None:
        """Forget everything."""
        self._pcm.clear()

    def take(self) -> tuple[NDArray[np.int16], int] | None:
        """The samples, shape ``(N,)``, with their rate, and start anew; none when empty."""
        if not self._pcm:
            return None
        samples = np.frombuffer(bytes(self._pcm), "<i2").astype(np.int16)
        self.clear()
        return samples, self._sample_rate

    @property
    def _room(self) -> int:
        return int(self._max_s * self._sample_rate) * 2
