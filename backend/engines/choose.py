"""Which engine answers."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path

from backend.contract.engine import Engine
from backend.settings import Settings


def engine_factory(settings: Settings) -> Callable[[], Engine]:
    """A maker of engines as the settings ask."""
    return _omni(settings) if chosen(settings) == "omni" else _embedded(settings)


def chosen(settings: Settings) -> str:
    """The name of the engine: ``auto`` is omni where it can run fast, else embedded."""
    if settings.engine != "auto":
        return settings.engine
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
        )
        return OmniEngine(launch)

    return make
