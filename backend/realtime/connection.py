"""One WebSocket of one page: the session's changes go out, the page's wishes come in."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from contextlib import suppress
from typing import assert_never

from fastapi import WebSocket, WebSocketDisconnect
from pydantic import ValidationError

from backend.contract.engine import EngineStatus
from backend.contract.errors import TurnRefused
from backend.conversation.registry import SessionRegistry
from backend.conversation.session import Change, Session
from backend.realtime import protocol
from backend.realtime.protocol import (
    AudioAppend,
    AudioClear,
    AudioCommit,
    Clear,
    ClientMessage,
    Message,
    Rebuild,
    ResponseCancel,
)
from backend.runtime.engine_thread import EngineThread

log = logging.getLogger(__name__)

HELLO_TIMEOUT_S = 10.0
"""Time for the first message, as vLLM-Omni's realtime server has it."""

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
        self._numbers = itertools.count()
        self._overflowed = asyncio.Event()

    async def serve(self) -> None:
        """Greet, then send and receive until the page leaves."""
        await self._socket.accept()
        try:
            session = await asyncio.wait_for(self._greet(), HELLO_TIMEOUT_S)
        except (TimeoutError, WebSocketDisconnect, ValueError, TurnRefused) as error:
            with suppress(RuntimeError, WebSocketDisconnect):
                await self._send(protocol.encode_error("bad_hello", str(error) or "no hello"))
                await self._socket.close(CLOSE_POLICY)
            return
        loop = asyncio.get_running_loop()

        def on_status(status: EngineStatus) -> None:
            loop.call_soon_threadsafe(self._post, protocol.encode_status(status))

        stop_watching = self._engine.watch(on_status)
        self._introduce(session)
        session.listeners.add(self._on_change)
        try:
            await self._converse(session)
        finally:
            stop_watching()
            session.listeners.discard(self._on_change)
            loop.call_later(LEAVE_GRACE_S, self._part, session)

    async def _greet(self) -> Session:
        first = await self._receive()
        if not isinstance(first, protocol.SessionUpdate):
            raise ValueError("the first message must be session.update")
        return self._registry.get(first.session.id)

    def _introduce(self, session: Session) -> None:
        """Post the conversation so far; nothing may be awaited between this and listening."""
        self._post(
            {
                "type": "session.created",
                "session": {"id": session.id},
                "turns": [protocol.encode_record(record) for record in session.records],
            }
        )
        self._post(protocol.encode_status(self._engine.status))

    async def _converse(self, session: Session) -> None:
        tasks = {
            asyncio.create_task(self._send_all()),
            asyncio.create_task(self._receive_all(session)),
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

    async def _receive_all(self, session: Session) -> None:
        while True:
            try:
                self._act(await self._receive(), session)
            except ValueError as error:
                self._post(protocol.encode_error("bad_message", str(error)))

    def _act(self, message: ClientMessage, session: Session) -> None:
        match message:
            case AudioAppend():
                self._record(message, session)
            case AudioCommit():
                self._post({"type": "input_audio_buffer.committed", "item_id": None})
            case AudioClear():
                session.recording.clear()
            case ResponseCancel():
                session.interrupt()
            case Clear():
                session.clear()
            case Rebuild():
                self._engine.rebuild_if_failed()
            case protocol.SessionUpdate():
                raise ValueError("this connection already has its session")
            case _:
                assert_never(message)

    def _record(self, message: AudioAppend, session: Session) -> None:
        was_full = session.recording.full
        session.recording.append(message.audio, message.sample_rate)
        if session.recording.full and not was_full:
            text = "The recording has reached its longest and ends here."
            self._post({"type": "omni.recording.full", "text": text})

    async def _receive(self) -> ClientMessage:
        try:
            text = await self._socket.receive_text()
        except KeyError as error:
            raise ValueError("messages are JSON text") from error
        try:
            return protocol.client_message.validate_json(text)
        except ValidationError as error:
            raise ValueError(error.errors(include_input=False)[0]["msg"]) from error

    async def _send(self, message: Message) -> None:
        message["event_id"] = f"event_{next(self._numbers)}"
        await self._socket.send_text(json.dumps(message))

    def _part(self, session: Session) -> None:
        if not session.listeners:
            session.interrupt()
            self._registry.leave(session)

    def _on_change(self, change: Change) -> None:
        self._post(protocol.encode_change(change))

    def _post(self, message: Message) -> None:
        try:
            self._outbox.put_nowait(message)
        except asyncio.QueueFull:
            self._overflowed.set()
