"""The background thread whose asyncio loop makes, runs and closes the engine."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from backend.contract.engine import Engine, EngineState, EngineStatus
from backend.contract.errors import EngineFailed, TurnRefused
from backend.contract.media import AudioClip
from backend.contract.turn import Turn
from backend.runtime.admission import Admission
from backend.runtime.supervisor import MakeEngine, Supervisor
from backend.runtime.turn_service import TurnService
from backend.runtime.turn_stream import EventStream

log = logging.getLogger(__name__)

StatusListener = Callable[[EngineStatus], None]
T = TypeVar("T")

CLOSE_TIMEOUT_S = 20.0


class EngineThread:
    """Takes turns from any thread or loop and runs them on the engine's own loop."""

    def __init__(
        self,
        make_engine: MakeEngine | Mapping[str, MakeEngine],
        *,
        stall_timeout_s: float = 30.0,
        let_end_s: float = 60.0,
        max_waiting: int = 32,
    ) -> None:
        """Prepare the thread; ``start`` starts it.

        Args:
            make_engine: Called on the engine's loop for the first engine and every rebuild; or one
                such for each of several pipelines, by name, the first of them at the start.
            stall_timeout_s: Seconds without an event after which a turn is stopped.
            let_end_s: Seconds that turns under way may take when another pipeline is to be loaded.
            max_waiting: Turns that may wait beyond those that run.
        """
        makers = make_engine if isinstance(make_engine, Mapping) else {"": make_engine}
        self._supervisor = Supervisor(makers, self._tell)
        self._service = TurnService(self._supervisor, stall_timeout_s, let_end_s)
        self._admission = Admission(max_waiting)
        self._listeners: list[StatusListener] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._main, name="engine", daemon=True)
        self._started = threading.Event()

    @property
    def status(self) -> EngineStatus:
        """The engine's latest status."""
        return self._supervisor.status

    def watch(self, listener: StatusListener) -> Callable[[], None]:
        """Have ``listener`` called on the engine's loop at each new status.

        Returns:
            A function that ends the watch.
        """
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def start(self) -> None:
        """Start the thread and begin to load the engine; returns at once."""
        self._thread.start()
        self._started.wait()

    def submit(self, turn: Turn) -> EventStream:
        """Queue a turn; its events come through the stream that is returned.

        Raises:
            TurnRefused: the engine has failed or is closed, or too many turns wait.
        """
        if self.status.state in (EngineState.FAILED, EngineState.CLOSED):
            reason = self.status.message or "it has been shut down"
            raise TurnRefused("engine_down", f"The engine is not running: {reason}")
        known = self.status.capabilities
        ahead = self._admission.enter(known.max_concurrent_turns if known else 1)
        stream = EventStream(turn, self._loop)
        self._loop.call_soon_threadsafe(self._begin, stream, ahead, time.monotonic())
        return stream

    async def hear(self, clip: AudioClip, language: str) -> str | None:
        """The words of a clip, outside any turn and its queue; from any loop.

        Returns:
            None where the engine recognises speech only to answer it.

        Raises:
            EngineFailed: the engine is not ready.
        """
        return await self._on_loop(self._hear(clip, language))

    async def foresee(self, turn: Turn) -> None:
        """Have the engine prepare for a turn that is about to come; from any loop.

        Raises:
            EngineFailed: the engine is not ready.
        """
        await self._on_loop(self._foresee(turn))

    async def switch(self, pipeline: str) -> None:
        """Begin to load another pipeline; from any loop. Harmless for the one that runs.

        Turns under way may end, those that wait and come are answered by the new engine, and the
        old one is closed before the new one is loaded. The last of several calls counts.

        Raises:
            TurnRefused: ``pipeline_unknown``, or the engine is closed.
        """
        if pipeline not in self.status.pipelines:
            names = ", ".join(self.status.pipelines) or "none were set up with --pipelines"
            raise TurnRefused("pipeline_unknown", f"Choose one of these pipelines: {names}.")
        if self.status.state is EngineState.CLOSED:
            raise TurnRefused("engine_down", "The engine has been shut down.")
        await self._on_loop(self._switch(pipeline))

    def rebuild_if_failed(self) -> None:
        """Load a new engine when the last one failed; harmless otherwise, from any thread."""
        if self.status.state is EngineState.FAILED:
            self._loop.call_soon_threadsafe(self._supervisor.build, "Restarting")

    def responds(self, timeout_s: float = 1.0) -> bool:
        """True when the engine's loop is not blocked: it answers within ``timeout_s``."""
        answered = threading.Event()
        try:
            self._loop.call_soon_threadsafe(answered.set)
        except RuntimeError:
            return False
        return answered.wait(timeout_s)

    def close(self) -> None:
        """End every turn as cancelled, close the engine and join the thread."""
        if not self._thread.is_alive():
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSE_TIMEOUT_S)
        if self._thread.is_alive():
            log.error("the engine thread did not stop within %s s", CLOSE_TIMEOUT_S)

    def _main(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.call_soon(self._supervisor.build)
        self._loop.call_soon(self._started.set)
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(self._shut_down())
        finally:
            self._loop.close()

    async def _on_loop(self, work: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    @asynccontextmanager
    async def _aside(self) -> AsyncIterator[Engine]:
        """The engine for work outside any turn, for which nothing waits until it is loaded."""
        with self._service.aside():
            if self.status.state is not EngineState.READY:
                raise EngineFailed("it is not ready")
            yield await self._supervisor.ready()

    async def _hear(self, clip: AudioClip, language: str) -> str | None:
        async with self._aside() as engine:
            hears = engine.capabilities.hears_ahead
            return await engine.hear(clip, language) if hears else None

    async def _foresee(self, turn: Turn) -> None:
        async with self._aside() as engine:
            await engine.foresee(turn)

    async def _switch(self, pipeline: str) -> None:
        self._supervisor.switch(pipeline, self._service.let_end)

    async def _shut_down(self) -> None:
        await self._service.close()
        await self._supervisor.close()
        await self._loop.shutdown_asyncgens()
        await self._loop.shutdown_default_executor()

    def _tell(self, status: EngineStatus) -> None:
        for listener in tuple(self._listeners):
            try:
                listener(status)
            except Exception:
                log.exception("a status listener failed")

    def _begin(self, stream: EventStream, ahead: int, submitted_at: float) -> None:
        task = self._service.begin(stream, ahead, submitted_at)
        task.add_done_callback(lambda _: self._admission.leave())
