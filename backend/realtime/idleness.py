"""When nothing has happened in a conversation for so long that nobody seems to be there."""

from __future__ import annotations

import asyncio
import time

from backend.conversation.session import Session

UNDER_WAY_S = 1.0
"""Seconds between two looks at a turn that is under way for very long."""


class Idleness:
    """Watches one connection.

    Whatever the client says counts, the sound of a microphone too: who leaves a call open and is
    quiet expects to be heard when they speak again. A call that is muted sends none, and rests.
    """

    def __init__(self, session: Session, idle_s: float) -> None:
        """Count from now; ``idle_s`` seconds are too long."""
        self._session = session
        self._idle_s = idle_s
        self._at = time.monotonic()

    def interrupt(self) -> None:
        """Something has happened."""
        self._at = time.monotonic()

    async def lasts(self) -> None:
        """Return once nothing has happened for too long, and no turn is under way."""
        while (left := self._left_s) > 0 or self._session.under_way:  # noqa: ASYNC110 - time passes
            await asyncio.sleep(left if left > 0 else UNDER_WAY_S)

    @property
    def _left_s(self) -> float:
        return self._at + self._idle_s - time.monotonic()

    @property
    def in_words(self) -> str:
        """Why the connection is closed."""
        minutes = max(1, round(self._idle_s / 60))
        span = "a minute" if minutes == 1 else f"{minutes} minutes"
        return f"Nothing has happened here for {span}, so the connection was closed."
