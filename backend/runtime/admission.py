"""Who may wait for the engine: a bounded line, counted from any thread."""

from __future__ import annotations

import threading

from backend.contract.errors import TurnRefused


class Admission:
    """Counts the turns that wait or run, and refuses what would make the line too long."""

    def __init__(self, max_waiting: int) -> None:
        """Let ``max_waiting`` turns wait beyond those that run."""
        self._max_waiting = max_waiting
        self._lock = threading.Lock()
        self._waiting = 0

    def enter(self) -> int:
        """Join the line; returns how many turns were waiting before.

        Raises:
            TurnRefused: the line is full.
        """
        with self._lock:
            if self._waiting > self._max_waiting:
                raise TurnRefused(
                    "busy", "Too many people are waiting just now. Please try again in a minute."
                )
            self._waiting += 1
            return self._waiting - 1

    def leave(self) -> None:
        """Leave the line: the turn runs, or was given up."""
        with self._lock:
            self._waiting -= 1

    @property
    def waiting(self) -> int:
        """Turns in the line."""
        return self._waiting
