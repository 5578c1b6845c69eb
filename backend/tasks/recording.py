"""A recording of the shelf, and one that is still being made."""

from __future__ import annotations

import wave
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from backend.contract.media import Samples
from backend.conversation.pcm import to_pcm16


@dataclass(slots=True)
class ShelfClip:
    """A recording on the shelf.

    Attributes:
        id: Unguessable.
        owner: Who alone may use it.
        path: A WAV file of mono PCM16.
        made_by: Who spoke it, for people; empty for what was sent in.
        size: Bytes of the file.
        duration_s: Its length in seconds.
        used_at: When it was last used, on the shelf's clock.
    """

    id: str
    owner: str
    path: Path
    made_by: str
    size: int = 0
    duration_s: float = 0.0
    used_at: float = 0.0


class Recording:
    """A recording that is still being made; its file grows with it.

    All methods but ``discard`` raise an ``OSError`` where the disk is full.
    """

    def __init__(
        self, clip: ShelfClip, sample_rate: int, put: Callable[[ShelfClip], ShelfClip]
    ) -> None:
        """Begin the file.

        Args:
            clip: What it will be.
            sample_rate: Rate of what will be added, in hertz.
            put: Takes it to its shelf, or deletes the file and raises.
        """
        self.clip = clip
        self._put = put
        self._file = wave.open(str(clip.path), "wb")  # noqa: SIM115 - it is closed by ``finish`` or ``discard``
        self._file.setnchannels(1)
        self._file.setsampwidth(2)
        self._file.setframerate(sample_rate)

    def add(self, pcm: Samples) -> None:
        """Append samples of shape ``(N,)``."""
        self._file.writeframes(to_pcm16(pcm))

    def finish(self) -> ShelfClip:
        """Put it on the shelf.

        Raises:
            TurnRefused: ``shelf_full``.
        """
        self.clip.duration_s = self._file.getnframes() / self._file.getframerate()
        self._file.close()
        self.clip.size = self.clip.path.stat().st_size
        return self._put(self.clip)

    def discard(self) -> None:
        """Forget it."""
        with suppress(OSError):
            self._file.close()
        self.clip.path.unlink(missing_ok=True)
