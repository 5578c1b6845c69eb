"""A file that is sent away while it is written."""

from __future__ import annotations

import io


class Sink(io.RawIOBase):
    """Takes what is written and gives it away; it cannot be wound back, as a socket cannot."""

    def __init__(self) -> None:
        """Nothing was written yet."""
        self._written = bytearray()

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        """Take more; returns how many bytes that were."""
        self._written += data
        return len(data)

    def take(self) -> bytes:
        """All that was written since the last call."""
        data = bytes(self._written)
        self._written.clear()
        return data
