"""Why a connection is closed, as the codes that its client sees."""

from __future__ import annotations

POLICY = 1008
"""The handshake named no session that a page could have."""

TOO_SLOW = 1013
"""The client does not read what it is sent; it should connect anew and take a snapshot."""

IDLE = 4408
"""Nothing has happened for long; the client may come back when something does."""

FULL = 4429
"""Too many connections; the client may try again later."""

GOODBYES = frozenset({1000, 1001})
"""What a client closes with that means to leave: it has finished, or its page is gone."""
