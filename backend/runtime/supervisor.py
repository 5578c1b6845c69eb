"""The engine's life: made, loaded, checked, rebuilt, changed for another, closed. On one loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial

from backend.contract.engine import Engine, EngineState, EngineStatus
from backend.contract.errors import EngineFailed

log = logging.getLogger(__name__)

MakeEngine = Callable[[], Engine]
LetEnd = Callable[[Callable[[str], None]], Awaitable[None]]

CLOSE_TIMEOUT_S = 10.0
HEALTH_TIMEOUT_S = 5.0


def in_words(error: BaseException) -> str:
    """What an exception says, or its name when it says nothing."""
    return str(error).strip() or type(error).__name__


class Supervisor:
    """Keeps one engine alive and tells how it is; all but ``status`` is for the engine's loop."""

    def __init__(
        self, makers: Mapping[str, MakeEngine], tell: Callable[[EngineStatus], None]
    ) -> None:
        """Take what makes engines, by pipeline (the first begins), and whom to tell of changes."""
        self._makers = makers
        self._tell = tell
        self._engine: Engine | None = None
        # What is being loaded, or was in use: it is closed before another one is made.
        self._old: Engine | None = None
        self._proven: str | None = None
        self._changing = False
        self._settled = asyncio.Event()
        self._build: asyncio.Task[None] | None = None
        self._one_at_a_time = asyncio.Lock()
        self.slots = asyncio.Semaphore(1)
        self.status = EngineStatus(
            EngineState.LOADING,
            "Starting",
            pipeline=next(iter(makers)),
            pipelines=tuple(name for name in makers if name),
        )

    @property
    def change(self) -> str:
        """What those are told who wait for another pipeline, without a full stop; else nothing."""
        return f"The model is being changed to {self.status.pipeline}" if self._changing else ""

    def build(self, why: str = "") -> None:
        """Make and load an engine in the background, in place of any there is.

        Does nothing while a build is under way.
        """
        if self._build is None or self._build.done():
            self._begin(why)

    def switch(self, pipeline: str, let_end: LetEnd) -> None:
        """Load another pipeline in the background, in place of what there is or is being loaded.

        The engine in use gets no new turns from now on. Where the other one cannot be loaded, the
        last one that could comes back. Harmless where it is this pipeline that runs or is loaded.

        Args:
            pipeline: Its name.
            let_end: Tells what it waits for, and returns when the engine in use can be closed.
        """
        if pipeline == self.status.pipeline and self.status.state is not EngineState.FAILED:
            return
        self.status = replace(self.status, pipeline=pipeline, capabilities=None)
        self._changing = True
        self._begin(f"Changing to {pipeline}", let_end)

    async def ready(self) -> Engine:
        """The engine, once it is loaded.

        Raises:
            EngineFailed: it could not be loaded; the message says why.
        """
        while True:
            await self._settled.wait()
            if self._engine is not None:
                return self._engine
            # Else a change has begun since it was settled.
            if self.status.state in (EngineState.FAILED, EngineState.CLOSED):
                raise EngineFailed(self.status.message)

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
        self._leave()
        async with self._one_at_a_time:
            await self._discard()
        self._set(EngineState.CLOSED)
        self._settled.set()

    def _begin(self, why: str, let_end: LetEnd | None = None) -> None:
        self._leave()
        self._settled.clear()
        self._set(EngineState.LOADING, why or "Starting")
        self._build = asyncio.create_task(self._bring_up(why, let_end))

    def _leave(self) -> None:
        """Give up what is being loaded, and take no turns for what is in use."""
        if self._build is not None:
            self._build.cancel()
            self._build = None
        if self._engine is not None:
            self._old, self._engine = self._engine, None

    def _go_on(self) -> None:
        """Break off where the build was given up: a library may have lost the cancellation."""
        if asyncio.current_task() is not self._build:
            raise asyncio.CancelledError

    async def _bring_up(self, why: str, let_end: LetEnd | None) -> None:
        async with self._one_at_a_time:  # one that was cancelled may still be ending
            if let_end is not None:
                await let_end(partial(self._loads, why))
            await self._discard()
            if problem := await self._load(why):
                await self._go_back(problem)
        self._changing = False
        self._settled.set()

    async def _load(self, why: str, told: str = "") -> str:
        """Load the pipeline; returns why it could not be, or nothing."""
        self._go_on()
        build = self._build

        def report(done: float, words: str) -> None:
            # Parts that load side by side may still report when the load has ended.
            if build is self._build and engine is self._old:
                self._loads(why, words, done)

        try:
            self._old = engine = self._makers[self.status.pipeline]()
            await engine.load(report)
            self._go_on()
        except Exception as error:
            log.exception("engine failed to load")
            await self._discard()
            self._go_on()
            return in_words(error)
        self._engine, self._old = engine, None
        self._proven = self.status.pipeline
        self.slots = asyncio.Semaphore(engine.capabilities.max_concurrent_turns)
        self.status = replace(self.status, capabilities=engine.capabilities)
        self._set(EngineState.READY, told, 1.0)
        return ""

    async def _go_back(self, problem: str) -> None:
        """Load what was there before in place of what could not be loaded, if it was another."""
        failed, before = self.status.pipeline, self._proven
        if before in (None, failed):
            self._set(EngineState.FAILED, problem)
            return
        told = f"{failed} could not be loaded: {problem.rstrip('.')}."
        self.status = replace(self.status, pipeline=before)
        if again := await self._load(f"{told} Going back to {before}", told):
            self._set(EngineState.FAILED, f"{told} Nor could {before}: {again}")

    async def _discard(self) -> None:
        if self._old is not None:
            try:
                await asyncio.wait_for(self._old.close(), CLOSE_TIMEOUT_S)
            except Exception:
                log.exception("engine did not close cleanly")
            self._old = None

    def _loads(self, why: str, words: str, done: float = 0.0) -> None:
        self._set(EngineState.LOADING, f"{why}. {words}" if why else words, done)

    def _set(self, state: EngineState, message: str = "", progress: float = 0.0) -> None:
        self.status = replace(self.status, state=state, message=message, progress=progress)
        self._tell(self.status)
