"""Which engine answers."""

from __future__ import annotations

from collections.abc import Callable

from backend.contract.engine import Engine
from backend.settings import Settings


def engine_factory(settings: Settings) -> Callable[[], Engine]:
    """A maker of engines as the settings ask; ``auto`` is the embedded one so far."""

    def make() -> Engine:
        from backend.engines.embedded.engine import EmbeddedEngine

        return EmbeddedEngine.from_settings(settings)

    return make
