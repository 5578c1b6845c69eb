"""One WebSocket of one client: the session's changes go out, the client's wishes come in."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from contextlib import suppress

from fastapi import WebSocket, WebSocketDisconnect

from backend.contract.engine import EngineStatus
from backend.contract.errors import TurnRefused
from backend.conversation.session import Change, Session
from backend.realtime import closing
from backend.realtime.dispatch import Dispatch
from backend.realtime.handshake import Handshake
from backend.realtime.idleness import Idleness
from backend.realtime.incoming import ClientMessage
from backend.realtime.lobby import Lobby
from backend.realtime.outgoing import encode_error, encode_record, encode_session, encode_status
from backend.realtime.protocol import Message
from backend.realtime.reading import BadMessage, read_message
from backend.realtime.turn_events import TurnEvents
from backend.runtime.engine_thread import EngineThread

log = logging.getLogger(__name__)

LEAVE_GRACE_S = 5.0
"""Time in which a reloaded page may return before the work for it is stopped."""

LOSS_GRACE_S = 30.0
"""The same for a page that did not say goodbye: its network is away, and it will try to return."""

MAX_UNSENT = 4000
"""Messages a slow page may be behind before it has to connect anew and take a snapshot."""

CLOSE_TIMEOUT_S = 1.0


class Connection:
    """Serves one WebSocket until it closes."""

    def __init__(self, socket: WebSocket, lobby: Lobby, engine: EngineThread) -> None:
        """Take an unaccepted WebSocket."""
        self._socket = socket
        self._lobby = lobby
        self._engine = engine
        self._handshake = Handshake(socket.scope.get("subprotocols", []))
        self._outbox: asyncio.Queue[Message] = asyncio.Queue(MAX_UNSENT)
        # The app's own page takes sound at any rate, sample for sample; others count on 24 kHz.
        self._told = TurnEvents(resample=not self._handshake.is_page)
        self._numbers = itertools.count()
        self._overflowed = asyncio.Event()
        self._said_goodbye = False

    async def serve(self) -> None:
        """Tell everything so far, then send and receive until the client leaves."""
        await self._socket.accept(self._handshake.answer)
        try:
            session = self._lobby.enter(self._handshake.session_id)
        except TurnRefused as refusal:
            code = closing.POLICY if refusal.code == "bad_session" else closing.FULL
            await self._close(code, encode_error(refusal.code, refusal.message))
            return
        try:
            await self._serve(session)
        finally:
            self._lobby.leave(session, LEAVE_GRACE_S if self._said_goodbye else LOSS_GRACE_S)

    async def _serve(self, session: Session) -> None:
        loop = asyncio.get_running_loop()

        def on_status(status: EngineStatus) -> None:
            loop.call_soon_threadsafe(self._post, encode_status(status))

        idleness = Idleness(session, self._lobby.limits.idle_s)

        def on_change(change: Change) -> None:
            idleness.interrupt()
            for message in self._told.of(change):
                self._post(message)

        stop_watching = self._engine.watch(on_status)
        self._introduce(session)
        session.listeners.add(on_change)
        dispatch = Dispatch(session, self._engine, self._post, self._told)
        try:
            await self._converse(dispatch, idleness)
        finally:
            dispatch.close()
            stop_watching()
            session.listeners.discard(on_change)

    def _introduce(self, session: Session) -> None:
        """Post the conversation so far; nothing may be awaited between this and listening."""
        self._post(
            {
                "type": "session.created",
                "session": encode_session(session, self._engine.status, listens=False),
                "turns": [encode_record(record) for record in session.records],
            }
        )
        self._post(encode_status(self._engine.status))

    async def _converse(self, dispatch: Dispatch, idleness: Idleness) -> None:
        receiving = asyncio.create_task(self._receive_all(dispatch, idleness))
        sending = asyncio.create_task(self._send_all())
        idle = asyncio.create_task(idleness.lasts())
        tasks = {receiving, sending, idle, asyncio.create_task(self._overflowed.wait())}
        done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if sending in done:
            # It fails first where much is being sent; how the client left is told on the other way.
            await asyncio.wait({receiving}, timeout=CLOSE_TIMEOUT_S)
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
        if self._overflowed.is_set():
            await self._close(closing.TOO_SLOW)
        elif idle in done:
            await self._close(closing.IDLE, encode_error("session_idle", idleness.in_words))
        for task in done:
            error = task.exception()
            if error and not isinstance(error, WebSocketDisconnect):
                log.warning("a realtime connection broke: %r", error)

    async def _send_all(self) -> None:
        while True:
            await self._send(await self._outbox.get())

    async def _receive_all(self, dispatch: Dispatch, idleness: Idleness) -> None:
        while True:
            try:
                message = await self._receive()
                idleness.interrupt()
                dispatch.act(message)
            except BadMessage as error:
                self._post(encode_error("bad_message", str(error), error.event_id))

    async def _receive(self) -> ClientMessage:
        try:
            text = await self._socket.receive_text()
        except KeyError as error:
            raise BadMessage("messages are JSON text") from error
        except WebSocketDisconnect as left:
            self._said_goodbye = left.code in closing.GOODBYES
            raise
        return read_message(text)

    async def _send(self, message: Message) -> None:
        message["event_id"] = f"event_{next(self._numbers)}"
        await self._socket.send_text(json.dumps(message))

    async def _close(self, code: int, farewell: Message | None = None) -> None:
        """Say why, and close; a client that does not read does not read the farewell either."""
        with suppress(TimeoutError, RuntimeError, WebSocketDisconnect):
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                if farewell:
                    await self._send(farewell)
                await self._socket.close(code)

    def _post(self, message: Message) -> None:
        try:
            self._outbox.put_nowait(message)
        except asyncio.QueueFull:
            self._overflowed.set()
