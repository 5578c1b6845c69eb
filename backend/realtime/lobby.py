"""Who is connected: how many may be, and what becomes of the work for one that has gone."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass

from backend.contract.errors import TurnRefused
from backend.conversation.registry import SessionRegistry
from backend.conversation.session import Session


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """What one app takes on.

    Attributes:
        idle_s: Seconds after which a connection on which nothing happens is closed.
        in_all: Connections at a time.
        per_session: Connections of one conversation at a time.
    """

    idle_s: float = 900.0
    in_all: int = 400
    per_session: int = 8


class Lobby:
    """Counts the connections of every conversation, on the web server's loop."""

    def __init__(self, registry: SessionRegistry, limits: ConnectionLimits) -> None:
        """Begin with nobody."""
        self.limits = limits
        self._registry = registry
        self._present: Counter[str] = Counter()
        self._partings: dict[str, asyncio.TimerHandle] = {}

    def enter(self, session_id: str) -> Session:
        """Let a connection in; its work is not stopped any more.

        Raises:
            TurnRefused: ``bad_session``, or ``full`` or ``too_many_connections`` with the bound
                that is reached.
        """
        if self._present.total() >= self.limits.in_all:
            raise TurnRefused("full", "Too many people are here just now. Try again later.")
        session = self._registry.get(session_id)
        if self._present[session_id] >= self.limits.per_session:
            words = "This conversation is open in too many places. Close one of them."
            raise TurnRefused("too_many_connections", words)
        self._present[session_id] += 1
        parting = self._partings.pop(session_id, None)
        if parting is not None:
            parting.cancel()
        return session

    def leave(self, session: Session, grace_s: float) -> None:
        """A connection has gone; when it was the last, work goes on for ``grace_s`` seconds."""
        self._present[session.id] -= 1
        if self._present[session.id] > 0:
            return
        del self._present[session.id]
        loop = asyncio.get_running_loop()
        self._partings[session.id] = loop.call_later(grace_s, self._part, session)

    def _part(self, session: Session) -> None:
        del self._partings[session.id]
        session.interrupt()
        self._registry.leave(session)
