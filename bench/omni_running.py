"""The omni engine on its thread, so that the bare ``AsyncOmni`` in it can be asked beside it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from backend.contract.engine import EngineState
from backend.engines.omni.engine import OmniEngine
from backend.engines.omni.launch import Launch
from backend.runtime.engine_thread import EngineThread
from bench.took import Took


@dataclass(frozen=True, slots=True)
class Running:
    """A running engine.

    Attributes:
        thread: Takes turns for it.
        engine: The engine, whose pipeline has the ``AsyncOmni``.
        loop: The loop that owns both.
        start_s: Seconds that the start took.
    """

    thread: EngineThread
    engine: OmniEngine
    loop: asyncio.AbstractEventLoop
    start_s: float

    async def on_loop(self, asking: Coroutine[Any, Any, Took]) -> Took:
        """Ask on the loop that owns the engine."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asking, self.loop))


@asynccontextmanager
async def running(launch: Launch) -> AsyncIterator[Running]:
    """Start an engine, and end it afterwards.

    Raises:
        RuntimeError: It did not start.
    """
    made: list[tuple[OmniEngine, asyncio.AbstractEventLoop]] = []

    def make() -> OmniEngine:
        made.append((OmniEngine(launch), asyncio.get_running_loop()))
        return made[-1][0]

    began = time.monotonic()
    thread = EngineThread(make, stall_timeout_s=120)
    thread.start()
    try:
        while thread.status.state is not EngineState.READY:
            if thread.status.state is EngineState.FAILED:
                raise RuntimeError(thread.status.message)
            await asyncio.sleep(0.5)
        [(engine, loop)] = made
        yield Running(thread, engine, loop, time.monotonic() - began)
    finally:
        await asyncio.to_thread(thread.close)
