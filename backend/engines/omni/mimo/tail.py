"""Keeps the end of a spoken reply from being heard twice."""

from __future__ import annotations

import numpy as np

from backend.contract.media import Samples
from backend.engines.omni.mimo.tokens import GROUP_SAMPLES

_SLACK = 2 * GROUP_SAMPLES
"""vLLM-Omni repeats three groups or more; fewer too many are sound that was read as words."""


class TailGuard:
    """Takes the sound of one reply, cuts off what vLLM-Omni sends twice, and gives the rest.

    vLLM-Omni 0.30 sends the last chunk of a reply again where the reply is a multiple of the chunk
    long. The words' token ids tell how long it really is, and mostly do so before that chunk comes;
    until they do, a chunk that is the same as the one before it is held back. So ``finish`` must be
    called for every reply that was not interrupted.

    Attributes:
        given: Samples given out so far.
    """

    def __init__(self) -> None:
        """Start a reply."""
        self.given = 0
        self._length: int | None = None
        self._last = self._held = np.zeros(0, np.float32)

    def feed(self, pcm: Samples) -> Samples:
        """Take the next chunk, shape ``(N,)``, and return what can be heard now, maybe nothing."""
        if not len(pcm):
            return pcm
        repeats = np.array_equal(pcm, self._last)
        self._last = pcm
        if self._length is None and repeats:
            ready, self._held = self._held, pcm
        else:
            ready, self._held = np.concatenate([self._held, pcm]), self._held[:0]
        return self._give(ready)

    def finish(self, groups: int) -> Samples:
        """Learn the length, before or after the last chunk, and return what was held back of it.

        Args:
            groups: ``<|empty|>`` tokens of the whole reply.
        """
        self._length = groups * GROUP_SAMPLES
        ready, self._held = self._held, self._held[:0]
        return self._give(ready)

    def _give(self, ready: Samples) -> Samples:
        surplus = 0 if self._length is None else self.given + len(ready) - self._length
        if surplus > _SLACK:
            ready = ready[: max(0, len(ready) - surplus)]
        self.given += len(ready)
        return ready
