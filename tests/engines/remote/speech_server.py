"""A server that speaks texts over HTTP, as vLLM-Omni's or any other with OpenAI's speech route."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from backend.conversation.pcm import to_pcm16
from tests.serving import run_app

SOUND = (0.5 * np.sin(np.arange(4800) / 10)).astype(np.float32)
"""What every text sounds like: 0.2 s."""

PCM = to_pcm16(SOUND)

Script = Callable[[], AsyncIterator[bytes]]


async def spoken() -> AsyncIterator[bytes]:
    """The sound in two pieces, of which the first ends within a sample."""
    yield PCM[:4801]
    yield PCM[4801:]


async def goes_on() -> AsyncIterator[bytes]:
    """Speak until nobody listens."""
    while True:
        yield PCM
        await asyncio.sleep(0.02)


async def breaks_off() -> AsyncIterator[bytes]:
    """Speak, and fail before the end."""
    yield PCM
    raise ConnectionAbortedError


def says(*pieces: bytes) -> Script:
    """Send these, as they are."""

    async def script() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    return script


def told(message: str) -> JSONResponse:
    """What vLLM-Omni answers to a request that it does not take."""
    return JSONResponse({"error": {"message": message, "code": 400}}, 400)


@dataclass
class SpeechServer:
    """Follows ``script`` for every text that has words.

    Attributes:
        kind: The Qwen3-TTS that it runs, which it tells whoever takes it for another one; empty
            for a server that knows nothing but OpenAI's route, and no /health.
        model: Name of its model.
        voices: What its voices route tells; none for no such route.
        answer: What it says instead of speaking.
        media_type: What it calls its sound.
        key: What it asks for.
        holds_sessions: Whether its WebSocket opens sessions too.
        door: HTTP status at which its WebSocket lets nobody in.
        asked: The bodies of the requests for texts with words.
        speaking: How many of them it is speaking now.
    """

    kind: str = "CustomVoice"
    model: str = "tiny"
    voices: Any = None
    script: Script = spoken
    answer: Response | None = None
    media_type: str = "audio/pcm"
    key: str = ""
    holds_sessions: bool = False
    door: int = 0
    asked: list[dict[str, Any]] = field(default_factory=list)
    speaking: int = 0
    url: str = ""

    @contextmanager
    def running(self) -> Iterator[SpeechServer]:
        routes = [
            Route("/v1/models", self._models),
            Route("/v1/audio/speech", self._speech, methods=["POST"]),
        ]
        if self.kind:
            routes.append(Route("/health", lambda request: Response()))
            routes.append(WebSocketRoute("/v1/realtime", self._realtime))
        if self.voices is not None:
            routes.append(Route("/v1/audio/voices", lambda request: JSONResponse(self.voices)))
        with run_app(Starlette(routes=routes)) as self.url:
            yield self

    async def _models(self, request: Request) -> Response:
        return JSONResponse({"data": [{"id": self.model}]})

    async def _speech(self, request: Request) -> Response:
        asked = await request.json()
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            return Response(status_code=401)
        if self.kind and asked.get("task_type") != self.kind:
            return told(f"Qwen3-TTS {self.kind} checkpoint does not support this.")
        if self.answer is None and not asked["input"].strip():
            return told("There is no text.")
        self.asked.append(asked)
        return self.answer or StreamingResponse(self._speak(), media_type=self.media_type)

    async def _speak(self) -> AsyncIterator[bytes]:
        self.speaking += 1
        try:
            async for piece in self.script():
                yield piece
        finally:
            self.speaking -= 1

    async def _realtime(self, socket: WebSocket) -> None:
        if self.door:
            await socket.send_denial_response(Response(status_code=self.door))
            return
        await socket.accept()
        if not self.holds_sessions:
            await socket.send_json({"type": "error", "code": "unsupported", "error": "no"})
            await socket.close(1008)
            return
        await socket.receive_json()
        await socket.send_json({"type": "session.created"})
        await socket.receive_json()
        await socket.send_json({"type": "session.closed"})
        await socket.close()
