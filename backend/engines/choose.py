"""Which engine answers."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path

from backend.contract.engine import Engine
from backend.settings import Settings


def engine_factories(settings: Settings) -> dict[str, Callable[[], Engine]]:
    """A maker for each pipeline, by name, the one to begin with first.

    Where there is but one, it has no name.
    """
    names = sorted(settings.pipelines or [""], key=lambda name: name != settings.pipeline)
    return {name: engine_factory(settings.of_pipeline(name)) for name in names}


def engine_factory(settings: Settings) -> Callable[[], Engine]:
    """A maker of engines as the settings ask; of the pipeline to begin with, if there are some."""
    settings = settings.of_pipeline()
    makers = {"embedded": _embedded, "omni": _omni, "remote": _remote}
    return makers[chosen(settings)](settings)


def chosen(settings: Settings) -> str:
    """The name of the engine: ``auto`` is a named server, omni where it is fast, or embedded."""
    settings = settings.of_pipeline()
    if settings.engine != "auto":
        return settings.engine
    if settings.url:
        return "remote"
    return "omni" if has_cuda() and importlib.util.find_spec("vllm_omni") else "embedded"


def has_cuda() -> bool:
    """Whether there is a CUDA GPU that this process may use. Imports no library, to be quick."""
    allowed = os.environ.get("CUDA_VISIBLE_DEVICES") not in ("", "-1")
    return allowed and any(Path("/dev").glob("nvidia[0-9]*"))


def _embedded(settings: Settings) -> Callable[[], Engine]:
    def make() -> Engine:
        from backend.engines.embedded.engine import EmbeddedEngine

        return EmbeddedEngine.from_settings(settings)

    return make


def _omni(settings: Settings) -> Callable[[], Engine]:
    def make() -> Engine:
        from backend.engines.omni.engine import OmniEngine
        from backend.engines.omni.launch import Launch

        launch = Launch(
            settings.deploy_config,
            models=settings.models,
            sampling=settings.sampling,
            stage_timeout_s=settings.stage_timeout_s,
            log_stats=settings.log_stats,
            tokenizer=settings.tokenizer,
            sound_groups=settings.sound_groups,
        )
        return OmniEngine(launch)

    return make


def _remote(settings: Settings) -> Callable[[], Engine]:
    def make() -> Engine:
        from backend.engines.remote.engine import RemoteEngine
        from backend.engines.remote.server import Server

        server = Server(
            settings.url,
            key=settings.api_key.get_secret_value(),
            sessions=settings.remote_sessions,
            speakers=tuple(settings.remote_speakers),
        )
        return RemoteEngine(server)

    return make
