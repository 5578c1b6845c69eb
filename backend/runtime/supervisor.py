"""The engine's life: made, loaded, checked, rebuilt in place, closed. Runs on one loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from backend.contract.engine import Engine, EngineState, EngineStatus
from backend.contract.errors import EngineFailed

log = logging.getLogger(__name__)

CLOSE_TIMEOUT_S = 10.0
HEALTH_TIMEOUT_S = 5.0


def in_words(error: BaseException) -> str:
    """What an exception says, or its name when it says nothing."""
    return str(error).strip() or type(error).__name__


class Supervisor:
    """Keeps one engine alive and tells what state it is in.

    Every method but ``status`` is called on the engine's loop.
    """

    def __init__(
        self, make_engine: Callable[[], Engine], tell: Callable[[EngineStatus], None]
    ) -> None:
        """Take the factory of engines, and whom to tell of each new status."""
        self._make_engine = make_engine
        self._tell = tell
        self._engine: Engine | None = None
        self._settled = asyncio.Event()
        self._build: asyncio.Task[None] | None = None
        self.slots = asyncio.Semaphore(1)
        self.status = EngineStatus(EngineState.LOADING, "Starting")

    def build(self, why: str = "") -> None:
        """Make and load an engine in the background, in place of any there is.

        Does nothing while a build is under way.
        """
        if self._build is None or self._build.done():
            self._settled.clear()
            self._set(EngineState.LOADING, why or "Starting")
            self._build = asyncio.create_task(self._rebuild(why))

    async def ready(self) -> Engine:
        """The engine, once it is loaded.

        Raises:
            EngineFailed: it could not be loaded; the message says why.
        """
        await self._settled.wait()
        if self._engine is None:
            raise EngineFailed(self.status.message)
        return self._engine

    def serves(self, engine: Engine) -> bool:
        """True while ``engine`` is the one in use."""
        return engine is self._engine

    async def check(self, engine: Engine, why: str) -> None:
        """Rebuild when ``engine`` is in use and no longer healthy."""
        try:
            await asyncio.wait_for(engine.health(), HEALTH_TIMEOUT_S)
        except Exception as error:
            log.warning("engine unhealthy after %s: %r", why, error)
            self.replace(engine, f"Restarting: {in_words(error)}")

    def replace(self, engine: Engine, why: str) -> None:
        """Rebuild unless somebody else already replaced ``engine``."""
        if self.serves(engine):
            self.build(why)

    async def close(self) -> None:
        """Stop any build and close the engine."""
        if self._build is not None:
            self._build.cancel()
            await asyncio.wait({self._build})
        await self._discard()
        self._set(EngineState.CLOSED)
        self._settled.set()

    async def _rebuild(self, why: str) -> None:
        await self._discard()
        engine: Engine | None = None
        try:
            engine = self._make_engine()
            await engine.load(partial(self._report, asyncio.current_task(), why))
        except asyncio.CancelledError:
            await self._close(engine)
            raise
        except Exception as error:
            log.exception("engine failed to load")
            await self._close(engine)
            self._set(EngineState.FAILED, in_words(error))
        else:
            self._engine = engine
            self.slots = asyncio.Semaphore(engine.capabilities.max_concurrent_turns)
            self._set(EngineState.READY, "", 1.0, engine)
        self._settled.set()

    def _report(self, build: asyncio.Task[None] | None, why: str, done: float, words: str) -> None:
        # Parts that load side by side may still report when the build has already failed.
        if build is self._build and not self._settled.is_set() and build and not build.done():
            self._set(EngineState.LOADING, f"{why}. {words}" if why else words, done)

    async def _discard(self) -> None:
        engine, self._engine = self._engine, None
        await self._close(engine)

    async def _close(self, engine: Engine | None) -> None:
        if engine is None:
            return
        try:
            await asyncio.wait_for(engine.close(), CLOSE_TIMEOUT_S)
        except Exception:
            log.exception("engine did not close cleanly")

    def _set(
        self,
        state: EngineState,
        message: str = "",
        progress: float = 0.0,
        engine: Engine | None = None,
    ) -> None:
        self.status = replace(self.status, state=state, message=message, progress=progress)
        if engine is not None:
            self.status = replace(self.status, capabilities=engine.capabilities)
        self._tell(self.status)
