"""One session on the server: opened for one turn, and always closed again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from backend.engines.failures import StageFailed
from backend.engines.remote import troubles
from backend.engines.remote.server import Server
from backend.engines.remote.wire import CANCEL, CLOSE, Message, read

OPEN_TIMEOUT_S = 10.0
END_TIMEOUT_S = 2.0
"""Seconds to wait for the server to say that a session is over."""

MAX_MESSAGE_BYTES = 32 << 20


class Session:
    """A session that is open. Its server keeps the place of one that is not closed for 30 s."""

    def __init__(self, socket: ClientConnection) -> None:
        """Take a connection on which the session is to be opened; see ``open_session``."""
        self._socket = socket

    async def say(self, message: Message) -> None:
        """Send one message.

        Raises:
            StageFailed: The connection was lost.
        """
        try:
            await self._socket.send(json.dumps(message))
        except ConnectionClosed as error:
            raise StageFailed(troubles.LOST) from error

    async def __aiter__(self) -> AsyncIterator[Message]:
        """The server's messages, without an end.

        Raises:
            StageFailed: The connection was lost, or a message is none.
        """
        while True:
            try:
                text = await self._socket.recv()
            except ConnectionClosed as error:
                raise StageFailed(troubles.LOST) from error
            yield read(text)

    async def begin(self, update: Message) -> None:
        """Open the session and wait until it is.

        Raises:
            ServerBusy: It has no place.
            ServerRefused: It is no server for this.
            StageFailed: It refused, or was lost.
        """
        # A server without sessions may have said so and gone; its words are still to be read.
        with suppress(StageFailed):
            await self.say(update)
        async for message in self:
            if message["type"] == "error":
                raise troubles.trouble_in(message)
            if message["type"] == "session.created":
                return

    async def end(self, *, cancel: bool = False) -> None:
        """Give the place back and close the connection; ``cancel`` stops a reply under way."""
        try:
            with suppress(StageFailed, TimeoutError):
                async with asyncio.timeout(END_TIMEOUT_S):
                    if cancel:
                        await self.say(CANCEL)
                    await self.say(CLOSE)
                    async for message in self:
                        if message["type"] in {"session.closed", "session.expired"}:
                            break
        finally:
            await self._socket.close()


async def open_session(
    server: Server, update: Message, timeout_s: float = OPEN_TIMEOUT_S
) -> Session:
    """Open a session; the caller ends it.

    Args:
        server: Where.
        update: The ``session.update`` to open it with.
        timeout_s: Seconds that the server may take to let the connection in. It lets none in
            while it warms up.

    Raises:
        ServerBusy: The server has no place.
        ServerRefused: It is no server for this.
        StageFailed: It does not answer, refused, or was lost.
    """
    try:
        socket = await connect(
            server.socket,
            additional_headers=server.headers,
            open_timeout=timeout_s,
            close_timeout=1,
            max_size=MAX_MESSAGE_BYTES,
        )
    except InvalidStatus as error:
        raise troubles.trouble_at_the_door(error) from error
    except (OSError, TimeoutError, WebSocketException) as error:
        raise StageFailed(f"The server at {server.web} does not answer.") from error
    session = Session(socket)
    try:
        async with asyncio.timeout(timeout_s):
            await session.begin(update)
    except TimeoutError as error:
        await session.end()
        raise StageFailed(f"The server at {server.web} does not open a session.") from error
    except BaseException:
        await session.end()
        raise
    return session
