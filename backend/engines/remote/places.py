"""Waiting for a place on a server that lets in so many sessions at a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from backend.engines.remote.server import Server
from backend.engines.remote.session import OPEN_TIMEOUT_S, Session, open_session
from backend.engines.remote.troubles import ServerBusy
from backend.engines.remote.wire import Message

BUSY_S = 35.0
"""Seconds to wait: the server keeps the place of a session whose connection broke for 30."""

_TRY_EVERY_S = 0.5
_TELL_EVERY_S = 5.0


async def open_when_free(
    server: Server,
    update: Message,
    tell: Callable[[], None],
    timeout_s: float = OPEN_TIMEOUT_S,
) -> Session:
    """Open a session as soon as there is a place; the caller ends it.

    Args:
        server: Where.
        update: The ``session.update`` to open it with.
        tell: Called when there is none, and every few seconds that this lasts, so that a turn
            that waits is not taken for one that hangs.
        timeout_s: Seconds that the server may take to let a connection in.

    Raises:
        ServerBusy: There was no place for ``BUSY_S``.
        Exception: As ``open_session`` does.
    """
    deadline = time.monotonic() + BUSY_S
    tell_at = 0.0
    while True:
        try:
            return await open_session(server, update, timeout_s)
        except ServerBusy:
            if time.monotonic() > deadline:
                raise
        if time.monotonic() >= tell_at:
            tell_at = time.monotonic() + _TELL_EVERY_S
            tell()
        await asyncio.sleep(_TRY_EVERY_S)
