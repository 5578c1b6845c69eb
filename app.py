"""Omni Live's front door: settings → engine → web app → serve."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import gradio as gr
import uvicorn
from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from pydantic_settings import CliApp

from backend.conversation.registry import SessionRegistry
from backend.engines.choose import engine_factories
from backend.engines.ears import Ears
from backend.media.limits import MediaLimits
from backend.realtime.lobby import ConnectionLimits
from backend.realtime.routes import make_router
from backend.runtime.engine_thread import EngineThread
from backend.settings import Settings
from backend.speech_api.batch_routes import make_batch_router
from backend.speech_api.engine_routes import make_engine_router
from backend.speech_api.errors import answer_errors
from backend.speech_api.request import DEFAULT_VOICE
from backend.speech_api.routes import make_speech_router
from backend.speech_api.take_routes import make_take_router
from backend.speech_api.task_routes import make_task_router
from backend.speech_api.use_routes import make_use_router
from backend.speech_api.voice_routes import make_voice_router
from backend.speech_api.zip_routes import make_zip_router
from backend.voices.library import VoiceLibrary
from ui.lab_endpoints import add_lab_endpoints
from ui.page import build_page
from ui.theme import STATIC_DIR, STYLE_SHEETS, make_theme


def make_engine_thread(settings: Settings) -> EngineThread:
    """The engine thread that the settings ask for, not started."""
    return EngineThread(
        engine_factories(settings),
        stall_timeout_s=settings.stall_timeout_s,
        max_waiting=settings.max_waiting_turns,
    )


def speakers(engine: EngineThread) -> tuple[str, ...]:
    """Names of the engine's own voices, as far as they are known yet."""
    known = engine.status.capabilities
    return known.voice.speakers if known else ()


def connection_limits(settings: Settings) -> ConnectionLimits:
    """How long a connection may rest, and how many there may be."""
    return ConnectionLimits(
        idle_s=60 * settings.idle_minutes,
        in_all=settings.max_connections,
        per_session=settings.max_session_connections,
    )


def make_app(settings: Settings, engine: EngineThread) -> FastAPI:
    """The web app: realtime routes, the page's scripts, and the page at the root."""

    @asynccontextmanager
    async def run_engine(_app: FastAPI) -> AsyncIterator[None]:
        engine.start()
        yield
        engine.close()
        ears.close()

    ears = Ears.from_settings(engine, settings)
    registry = SessionRegistry(engine.submit, max_recording_s=settings.max_audio_s)
    app = FastAPI(title="Omni Live", lifespan=run_engine)
    app.include_router(make_router(registry, engine, connection_limits(settings)))
    library = VoiceLibrary(settings.data_dir / "voices", lambda: (DEFAULT_VOICE, *speakers(engine)))
    app.include_router(make_speech_router(engine, library, settings.max_script_chars))
    app.include_router(make_zip_router(library, settings.max_upload_mb * 1_000_000))
    app.include_router(
        make_voice_router(engine, ears, library, MediaLimits.from_settings(settings))
    )
    app.include_router(make_take_router(ears, library, settings.max_script_chars))
    app.include_router(make_batch_router(engine, library, settings))
    app.include_router(make_task_router(engine, library, settings))
    app.include_router(make_use_router(engine, library, registry))
    app.include_router(make_engine_router(engine, may_switch=settings.may_switch))
    answer_errors(app)
    app.mount("/omni", StaticFiles(directory=STATIC_DIR), name="omni")
    page = build_page(registry, engine, settings)
    with page:
        add_lab_endpoints(engine, ears, library, settings)
    # Gradio checks that a path it is handed was really uploaded only in apps that it launched
    # itself; a mounted one would read any file that a hand-made request names.
    page.has_launched = True
    return gr.mount_gradio_app(
        app,
        page,
        path="/",
        root_path=settings.root_path or None,
        max_file_size=f"{settings.max_upload_mb}mb",
        theme=make_theme(),
        css_paths=STYLE_SHEETS,
        footer_links=[],
        ssr_mode=False,
    )


def main() -> None:
    """Read the settings, and serve until interrupted."""
    settings = CliApp.run(Settings)
    app = make_app(settings, make_engine_thread(settings))
    listener = socket.create_server((settings.host, settings.port))
    print(f"Omni Live: http://{address(listener)}/", flush=True)
    with suppress(KeyboardInterrupt):
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


def address(listener: socket.socket) -> str:
    """Where a browser on this machine finds the app."""
    host, port = listener.getsockname()[:2]
    return f"{'localhost' if host in ('0.0.0.0', '127.0.0.1') else host}:{port}"  # noqa: S104


if __name__ == "__main__":
    main()
