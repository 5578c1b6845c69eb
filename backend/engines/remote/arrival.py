"""Waiting until a server is there, and until it opens sessions."""

from __future__ import annotations

import asyncio
import time

from backend.contract.engine import Progress
from backend.contract.errors import EngineFailed
from backend.contract.turn import Turn
from backend.engines.ending import stopped
from backend.engines.remote.places import open_when_free
from backend.engines.remote.question import instructions_for, voice_for
from backend.engines.remote.server import Server
from backend.engines.remote.troubles import ServerBusy
from backend.engines.remote.wire import session_update

WARM_UP_S = 240.0
"""Seconds that the server may take to let the first session in: it warms up for up to 180."""

_ASK_EVERY_S = 1.0


async def until_up(server: Server, progress: Progress) -> None:
    """Return when the server says that it is well.

    Raises:
        NoHealthRoute: It is there, and says nothing of it.
        ServerRefused: What is there is no server for this.
    """
    started = time.monotonic()
    while True:
        seconds = time.monotonic() - started
        # How long it will take nobody knows; the share only shows that time passes.
        share = 0.5 * seconds / (seconds + 60)
        progress(share, f"Waiting for the server at {server.web} ({seconds:.0f} s)")
        try:
            return await server.check_health()
        except EngineFailed:
            await asyncio.sleep(_ASK_EVERY_S)


async def until_warm(server: Server, progress: Progress) -> None:
    """Return when the server has opened a session, or says that all of its places are taken.

    Raises:
        ServerRefused: It holds no sessions, or asks for another key.
        StageFailed: It opens none.
    """
    started = time.monotonic()
    opening = asyncio.create_task(_open_once(server))
    try:
        while not opening.done():
            seconds = time.monotonic() - started
            share = 0.5 + 0.5 * seconds / (seconds + 60)
            progress(share, f"Waiting for the server's first session ({seconds:.0f} s)")
            await asyncio.wait({opening}, timeout=_ASK_EVERY_S)
        await opening
    finally:
        await stopped(opening)


async def _open_once(server: Server) -> None:
    nothing = Turn("load", 0)
    voice = voice_for(nothing.settings.voice, server.speakers)
    update = session_update(instructions_for(nothing, ""), voice, 1)
    try:
        session = await open_when_free(server, update, lambda: None, WARM_UP_S)
    except ServerBusy:
        return  # with conversations of others, so it is warm
    await session.end()
