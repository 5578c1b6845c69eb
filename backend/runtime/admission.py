"""Who may come to the engine: a bounded line, counted from any thread."""

from __future__ import annotations

import threading

from backend.contract.errors import TurnRefused


class Admission:
    """Counts the turns that wait or run, and refuses what would make the line too long."""

    def __init__(self, max_waiting: int) -> None:
        """Let ``max_waiting`` turns wait beyond those that the engine works on at a time."""
        self._max_waiting = max_waiting
        self._lock = threading.Lock()
        self._inside = 0

    def enter(self, places: int) -> int:
        """Join the line of an engine that works on ``places`` turns at a time.

        Returns:
            How many turns have to end before this one can start.

        Raises:
            TurnRefused: the line is full.
        """
        with self._lock:
            if self._inside >= places + self._max_waiting:
                raise TurnRefused(
                    "busy", "Too many people are waiting just now. Please try again in a minute."
                )
            self._inside += 1
            return max(0, self._inside - places)

    def leave(self) -> None:
        """Leave: the turn has ended."""
        with self._lock:
            self._inside -= 1
