"""Who connects: told by the subprotocols, which is all that a browser can say in a handshake."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

PROTOCOL = "realtime"
"""The name of the wire."""

SESSION_PREFIX = "omni-session."
"""Before the id of a conversation; an address would leave the id in every log on the way."""


class Handshake:
    """What a client offers when it connects."""

    def __init__(self, offered: Sequence[str]) -> None:
        """Read the offered subprotocols."""
        ids = [name.removeprefix(SESSION_PREFIX) for name in offered if SESSION_PREFIX in name]
        self.answer = PROTOCOL if PROTOCOL in offered else None
        """The subprotocol that is agreed on, if any."""
        self.is_page = bool(ids)
        """Whether it is the app's own page; other clients name no conversation."""
        self.session_id = ids[0] if ids else secrets.token_hex(16)
        """The conversation that is named, well formed or not; else a fresh one."""
