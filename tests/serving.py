"""Serves the app on a free port, in a thread of the test's own process."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import uvicorn
from fastapi import FastAPI
from starlette.applications import Starlette

from app import make_app
from backend.conversation.registry import SessionRegistry
from backend.realtime.lobby import ConnectionLimits
from backend.realtime.routes import make_router
from backend.runtime.engine_thread import EngineThread
from backend.settings import Settings


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def serve(engine: EngineThread, settings: Settings | None = None) -> Iterator[str]:
    """Yield the address of the whole app, page included, while it runs on ``engine``."""
    with run_app(make_app(settings or Settings(_env_file=None), engine)) as url:
        yield url


@dataclass
class Served:
    """The routes without the page, and a way into their loop."""

    url: str
    registry: SessionRegistry
    loop: asyncio.AbstractEventLoop

    def on_server(self, action: Callable[[], object]) -> None:
        """Run ``action`` on the server's loop and wait for it."""

        async def act() -> None:
            action()

        asyncio.run_coroutine_threadsafe(act(), self.loop).result(10)


@contextmanager
def serve_routes(engine: EngineThread, limits: ConnectionLimits | None = None) -> Iterator[Served]:
    """Yield the realtime routes while they run on ``engine``: quick to start, no Gradio."""
    registry = SessionRegistry(engine.submit)
    loops: list[asyncio.AbstractEventLoop] = []

    @asynccontextmanager
    async def run_engine(_app: FastAPI) -> AsyncIterator[None]:
        loops.append(asyncio.get_running_loop())
        engine.start()
        yield
        engine.close()

    app = FastAPI(lifespan=run_engine)
    app.include_router(make_router(registry, engine, limits))
    with run_app(app) as url:
        yield Served(url, registry, loops[0])


@contextmanager
def run_app(app: Starlette) -> Iterator[str]:
    """Yield the address of any app while it runs."""
    port = free_port()
    config = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started:
        assert thread.is_alive(), "the app stopped while it was starting"
        assert time.monotonic() < deadline, "the app did not start in time"
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive(), "the app did not stop"
