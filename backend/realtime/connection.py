"""One WebSocket of one page: the session's changes go out, the page's wishes come in."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import secrets
from contextlib import suppress

from fastapi import WebSocket, WebSocketDisconnect

from backend.contract.engine import EngineStatus
from backend.contract.errors import TurnRefused
from backend.conversation.registry import SessionRegistry
from backend.conversation.session import Change, Session
from backend.realtime.dispatch import Dispatch
from backend.realtime.incoming import ClientMessage
from backend.realtime.outgoing import encode_error, encode_record, encode_session, encode_status
from backend.realtime.protocol import Message
from backend.realtime.reading import BadMessage, read_message
from backend.realtime.turn_events import TurnEvents
from backend.runtime.engine_thread import EngineThread

log = logging.getLogger(__name__)

PROTOCOL = "realtime"
SESSION_PREFIX = "omni-session."
"""Subprotocols of the handshake, which is all that a browser can say in it: the name of the wire,
and whose conversation it is. An address would leave the id in every log on the way."""

LEAVE_GRACE_S = 5.0
"""Time in which a reloaded page may return before the work for it is stopped."""

MAX_UNSENT = 4000
"""Messages a slow page may be behind before it has to connect anew and take a snapshot."""

CLOSE_TIMEOUT_S = 1.0

CLOSE_POLICY, CLOSE_TOO_SLOW = 1008, 1013


class Connection:
    """Serves one WebSocket until it closes."""

    def __init__(self, socket: WebSocket, registry: SessionRegistry, engine: EngineThread) -> None:
        """Take an unaccepted WebSocket."""
        self._socket = socket
        self._registry = registry
        self._engine = engine
        self._outbox: asyncio.Queue[Message] = asyncio.Queue(MAX_UNSENT)
        # The app's own page takes sound at any rate, sample for sample; others count on 24 kHz.
        offered: list[str] = socket.scope.get("subprotocols", [])
        self._offered = offered
        self._told = TurnEvents(resample=not any(SESSION_PREFIX in name for name in offered))
        self._numbers = itertools.count()
        self._overflowed = asyncio.Event()

    async def serve(self) -> None:
        """Tell everything so far, then send and receive until the page leaves."""
        await self._socket.accept(PROTOCOL if PROTOCOL in self._offered else None)
        try:
            session = self._registry.get(_session_id(self._offered))
        except TurnRefused as refusal:
            with suppress(RuntimeError, WebSocketDisconnect):
                await self._send(encode_error(refusal.code, refusal.message))
                await self._socket.close(CLOSE_POLICY)
            return
        loop = asyncio.get_running_loop()

        def on_status(status: EngineStatus) -> None:
            loop.call_soon_threadsafe(self._post, encode_status(status))

        stop_watching = self._engine.watch(on_status)
        self._introduce(session)
        session.listeners.add(self._on_change)
        dispatch = Dispatch(session, self._engine, self._post, self._told)
        try:
            await self._converse(dispatch)
        finally:
            dispatch.close()
            stop_watching()
            session.listeners.discard(self._on_change)
            loop.call_later(LEAVE_GRACE_S, self._part, session)

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

    async def _converse(self, dispatch: Dispatch) -> None:
        tasks = {
            asyncio.create_task(self._send_all()),
            asyncio.create_task(self._receive_all(dispatch)),
            asyncio.create_task(self._overflowed.wait()),
        }
        done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
        if self._overflowed.is_set():
            # A page that does not read does not read the farewell either.
            with suppress(TimeoutError, RuntimeError, WebSocketDisconnect):
                await asyncio.wait_for(self._socket.close(CLOSE_TOO_SLOW), CLOSE_TIMEOUT_S)
        for task in done:
            error = task.exception()
            if error and not isinstance(error, WebSocketDisconnect):
                log.warning("a realtime connection broke: %r", error)

    async def _send_all(self) -> None:
        while True:
            await self._send(await self._outbox.get())

    async def _receive_all(self, dispatch: Dispatch) -> None:
        while True:
            try:
                dispatch.act(await self._receive())
            except BadMessage as error:
                self._post(encode_error("bad_message", str(error), error.event_id))

    async def _receive(self) -> ClientMessage:
        try:
            text = await self._socket.receive_text()
        except KeyError as error:
            raise BadMessage("messages are JSON text") from error
        return read_message(text)

    async def _send(self, message: Message) -> None:
        message["event_id"] = f"event_{next(self._numbers)}"
        await self._socket.send_text(json.dumps(message))

    def _part(self, session: Session) -> None:
        if not session.listeners:
            session.interrupt()
            self._registry.leave(session)

    def _on_change(self, change: Change) -> None:
        for message in self._told.of(change):
            self._post(message)

    def _post(self, message: Message) -> None:
        try:
            self._outbox.put_nowait(message)
        except asyncio.QueueFull:
            self._overflowed.set()


def _session_id(offered: list[str]) -> str:
    """The id among the offered subprotocols; a fresh one for clients that know of none."""
    ids = [name.removeprefix(SESSION_PREFIX) for name in offered if SESSION_PREFIX in name]
    return ids[0] if ids else secrets.token_hex(16)
