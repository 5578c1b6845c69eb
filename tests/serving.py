"""Serves the real app on a free port, in a thread of the test's own process."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from app import make_app
from backend.runtime.engine_thread import EngineThread
from backend.settings import Settings


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def serve(engine: EngineThread, settings: Settings | None = None) -> Iterator[str]:
    """Yield the address of the app while it runs on ``engine``."""
    port = free_port()
    app = make_app(settings or Settings(_env_file=None), engine)
    server = uvicorn.Server(
        uvicorn.Config(
            app, host="127.0.0.1", port=port, log_level="warning", ws="websockets-sansio"
        )
    )
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
        assert not thread.is_alive()
