"""The web routes beside the page: the WebSocket, the replies as WAV, and health."""

from __future__ import annotations

import logging

from fastapi import APIRouter, HTTPException, Response, WebSocket

from backend.contract.engine import EngineState
from backend.conversation.pcm import to_wav
from backend.conversation.registry import SessionRegistry
from backend.realtime.connection import Connection
from backend.realtime.lobby import ConnectionLimits, Lobby
from backend.realtime.origin import is_own_page
from backend.realtime.outgoing import encode_status
from backend.realtime.protocol import Message
from backend.runtime.engine_thread import EngineThread

log = logging.getLogger(__name__)


def make_router(
    registry: SessionRegistry, engine: EngineThread, limits: ConnectionLimits | None = None
) -> APIRouter:
    """Routes ``/v1/realtime``, ``/replies/{turn}.wav`` and ``/health``."""
    router = APIRouter()
    lobby = Lobby(registry, limits or ConnectionLimits())

    @router.websocket("/v1/realtime")
    async def realtime(socket: WebSocket) -> None:
        if is_own_page(socket.headers):
            await Connection(socket, lobby, engine).serve()
            return
        origin, host = socket.headers["origin"], socket.headers.get("host")
        log.warning("refused a WebSocket of a page at %s: the app is at %s", origin, host)
        await socket.close()  # before it is accepted: the page gets a 403

    # A turn's id is 128 random bits: a shared link opens this reply, not the conversation.
    @router.get("/replies/{turn_id}.wav")
    async def reply(turn_id: str) -> Response:
        record = registry.find_turn(turn_id)
        if record is None or not record.speech:
            raise HTTPException(404, "There is no sound for this reply any more.")
        wav = to_wav(bytes(record.speech), record.sample_rate)
        name = f'attachment; filename="omni-live-{turn_id[:8]}.wav"'
        headers = {"Content-Disposition": name, "Cache-Control": "private, no-store"}
        return Response(wav, media_type="audio/wav", headers=headers)

    @router.get("/health")
    def health(response: Response) -> Message:
        alive = engine.responds()
        status = encode_status(engine.status)
        if not alive or engine.status.state is not EngineState.READY:
            response.status_code = 503
        return {**status, "responds": alive}

    return router
