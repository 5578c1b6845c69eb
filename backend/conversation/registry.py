"""Every conversation of this process, found by its id, forgotten when nobody comes back."""

from __future__ import annotations

import re
import time

from backend.contract.errors import TurnRefused
from backend.conversation.record import TurnRecord
from backend.conversation.session import Session, Submit

ID_PATTERN = re.compile(r"[0-9a-f]{32}")
"""128 random bits made by the page: whoever knows the id holds the conversation."""


class SessionRegistry:
    """Finds or makes sessions; drops those idle for ``idle_s`` that no page watches."""

    def __init__(
        self,
        submit: Submit,
        *,
        max_recording_s: float = 300.0,
        idle_s: float = 1800.0,
        max_sessions: int = 200,
    ) -> None:
        """Make an empty registry whose sessions send their turns to ``submit``."""
        self._submit = submit
        self._max_recording_s = max_recording_s
        self._idle_s = idle_s
        self._max_sessions = max_sessions
        self._sessions: dict[str, Session] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def get(self, session_id: str) -> Session:
        """The session with this id, made when there is none yet.

        Raises:
            TurnRefused: the id is malformed, or too many people are here.
        """
        if not ID_PATTERN.fullmatch(session_id):
            raise TurnRefused("bad_session", "This page has lost its session. Please reload it.")
        self._sweep()
        session = self._sessions.get(session_id)
        if session is None:
            if len(self._sessions) >= self._max_sessions:
                raise TurnRefused("full", "Too many people are here just now. Try again later.")
            session = Session(session_id, self._submit, max_recording_s=self._max_recording_s)
            self._sessions[session_id] = session
        session.touched_at = time.monotonic()
        return session

    def find_turn(self, turn_id: str) -> TurnRecord | None:
        """The turn with this id in any session, or none."""
        found = (session.find(turn_id) for session in self._sessions.values())
        return next((record for record in found if record), None)

    def leave(self, session: Session) -> None:
        """A page has left: forget the session at once when it has nothing to come back to."""
        if not session.listeners and not session.records:
            self._sessions.pop(session.id, None)

    def _sweep(self) -> None:
        horizon = time.monotonic() - self._idle_s
        for session in tuple(self._sessions.values()):
            if session.touched_at < horizon and not session.listeners:
                session.interrupt()
                del self._sessions[session.id]
