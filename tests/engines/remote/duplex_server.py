"""A server that speaks vLLM-Omni's duplex wire and says what a test tells it to."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from backend.conversation.pcm import to_pcm16
from tests.serving import free_port

RATE = 24_000
SOUND = (0.5 * np.sin(np.arange(4800) / 10)).astype(np.float32)
"""What every piece of speech sounds like: 0.2 s."""


def measured(*stages: int) -> dict[str, Any]:
    """What the server says of the times of some stages."""
    times = {"vllm_ttft_ms": 10.0, "stage_gen_time_ms": 20.0}
    return {"vllm_omni": {"stage_metrics": {str(stage): times for stage in stages}}}


def delta(samples: np.ndarray = SOUND, **changes: Any) -> dict[str, Any]:
    """One piece of speech."""
    audio = base64.b64encode(to_pcm16(samples)).decode()
    about = {"format": "pcm16", "sample_rate_hz": RATE, "metadata": measured(0, 1, 2, 3)}
    return {"type": "response.output_audio.delta", "delta": audio, **about, **changes}


def error(code: str, message: str = "words of the server") -> dict[str, Any]:
    """What the server says when something is wrong."""
    return {"type": "error", "error": {"code": code, "message": message}}


class Conversation:
    """One session, from the server's side."""

    def __init__(self, socket: ServerConnection) -> None:
        self.socket = socket
        self.received: list[dict[str, Any]] = []

    async def say(self, kind: str | dict[str, Any], **fields: Any) -> None:
        message = {"type": kind, **fields} if isinstance(kind, str) else kind
        await self.socket.send(json.dumps(message))

    def got(self, kind: str) -> list[dict[str, Any]]:
        return [message for message in self.received if message["type"] == kind]


Script = Callable[[Conversation], Awaitable[None]]


async def answered(session: Conversation) -> None:
    """Hear, write, speak."""
    await session.say("input_audio_buffer.committed")
    if session.got("input_audio_buffer.append")[-1].get("audio"):
        kind = "conversation.item.input_audio_transcription.completed"
        await session.say(kind, transcript=" What is this? ")
    await session.say("response.created", response={"status": "in_progress"})
    for words in ("A cup", " of tea."):
        about = {"delta": words, "metadata": measured(0)}
        await session.say("response.output_audio_transcript.delta", **about)
    for _ in range(2):
        await session.say(delta())
    await session.say("response.done", response={"status": "completed"})


async def silent(session: Conversation) -> None:
    """Choose not to reply, after a word on buffering, which means nothing."""
    await session.say("response.listen", response={"metadata": {"buffering": True}})
    about = {"model_listen": True, **measured(0, 1)}
    await session.say("response.listen", response={"status": "listening", "metadata": about})


def says(*messages: dict[str, Any] | str | bytes) -> Script:
    """Say these, as they are."""

    async def script(session: Conversation) -> None:
        for message in messages:
            await session.socket.send(json.dumps(message) if isinstance(message, dict) else message)

    return script


async def hangs_up(session: Conversation) -> None:
    """Begin to speak and be gone."""
    await session.say(delta())
    session.socket.transport.abort()


async def goes_on(session: Conversation) -> None:
    """Speak until told to stop."""
    while True:
        await session.say(delta())
        await asyncio.sleep(0.02)


@dataclass
class DuplexServer:
    """Follows ``script`` at every commit."""

    port: int = field(default_factory=free_port)
    script: Script = answered
    places: int = 1
    health: int = 200
    key: str = ""
    at_the_door: dict[str, Any] | None = None
    sessions: list[Conversation] = field(default_factory=list)
    taken: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def last(self) -> Conversation:
        return self.sessions[-1]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[DuplexServer]:
        async with serve(self._serve, "127.0.0.1", self.port, process_request=self._route):
            yield self

    def _route(self, connection: ServerConnection, request: Request) -> Response | None:
        if request.path == "/health":
            return connection.respond(self.health, "")
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            return connection.respond(401, "")
        if request.path == "/v1/models":
            return connection.respond(200, json.dumps({"data": [{"id": "aura-tiny"}]}))
        if request.path != "/v1/realtime?duplex=1":
            return connection.respond(404, "")
        return None

    async def _serve(self, socket: ServerConnection) -> None:
        session = Conversation(socket)
        self.sessions.append(session)
        session.received.append(json.loads(await socket.recv()))
        if self.at_the_door or self.taken >= self.places:
            await session.say(self.at_the_door or error("resource_exhausted"))
            return
        self.taken += 1
        try:
            await session.say("session.created", session={"id": "duplex-1"})
            await self._converse(session)
        except ConnectionClosed:
            pass
        finally:
            self.taken -= 1

    async def _converse(self, session: Conversation) -> None:
        answering: asyncio.Task[None] | None = None
        async for text in session.socket:
            session.received.append(json.loads(text))
            match session.received[-1]["type"]:
                case "input_audio_buffer.commit":
                    answering = asyncio.create_task(self.script(session))
                case "response.cancel" if answering and not answering.done():
                    answering.cancel()
                    await session.say("response.done", response={"status": "cancelled"})
                case "session.close":
                    await session.say("session.closed", reason="client_close")
                    return
