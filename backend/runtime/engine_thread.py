"""The background thread whose asyncio loop makes, runs and closes the engine."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable

from backend.contract.engine import Engine, EngineState, EngineStatus
from backend.contract.errors import EngineFailed, TurnRefused
from backend.contract.events import QUEUED, Notice, Outcome, TurnEnd
from backend.contract.media import AudioClip
from backend.contract.turn import Turn
from backend.runtime.admission import Admission
from backend.runtime.supervisor import Supervisor, in_words
from backend.runtime.turn_runner import Progress, TurnHung, TurnRunner, TurnStalled
from backend.runtime.turn_stream import EventStream

log = logging.getLogger(__name__)

StatusListener = Callable[[EngineStatus], None]

CLOSE_TIMEOUT_S = 20.0


class EngineThread:
    """Takes turns from any thread or loop and runs them on the engine's own loop."""

    def __init__(
        self,
        make_engine: Callable[[], Engine],
        *,
        stall_timeout_s: float = 30.0,
        max_waiting: int = 32,
    ) -> None:
        """Prepare the thread; ``start`` starts it.

        Args:
            make_engine: Called on the engine's loop for the first engine and every rebuild.
            stall_timeout_s: Seconds without an event after which a turn is stopped.
            max_waiting: Turns that may wait beyond those that run.
        """
        self._make_engine = make_engine
        self._stall_timeout_s = stall_timeout_s
        self._admission = Admission(max_waiting)
        self._listeners: list[StatusListener] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._main, name="engine", daemon=True)
        self._started = threading.Event()
        self._turns: set[asyncio.Task[None]] = set()
        self._supervisor: Supervisor
        self._last_status = EngineStatus(EngineState.LOADING, "Starting")

    @property
    def status(self) -> EngineStatus:
        """The engine's latest status."""
        return self._last_status

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
        return await asyncio.wrap_future(
            asyncio.run_coroutine_threadsafe(self._hear(clip, language), self._loop)
        )

    async def foresee(self, turn: Turn) -> None:
        """Have the engine prepare for a turn that is about to come; from any loop.

        Raises:
            EngineFailed: the engine is not ready.
        """
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._foresee(turn), self._loop))

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
        self._supervisor = Supervisor(self._make_engine, self._tell)
        self._loop.call_soon(self._supervisor.build)
        self._loop.call_soon(self._started.set)
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(self._shut_down())
        finally:
            self._loop.close()

    async def _hear(self, clip: AudioClip, language: str) -> str | None:
        engine = await self._ready_now()
        if not engine.capabilities.hears_ahead:
            return None
        return await engine.hear(clip, language)

    async def _foresee(self, turn: Turn) -> None:
        engine = await self._ready_now()
        await engine.foresee(turn)

    async def _ready_now(self) -> Engine:
        if self.status.state is not EngineState.READY:
            raise EngineFailed("it is not ready")
        return await self._supervisor.ready()

    async def _shut_down(self) -> None:
        for task in self._turns:
            task.cancel()
        if self._turns:
            await asyncio.wait(self._turns)
        await self._supervisor.close()
        await self._loop.shutdown_asyncgens()
        await self._loop.shutdown_default_executor()

    def _tell(self, status: EngineStatus) -> None:
        self._last_status = status
        for listener in tuple(self._listeners):
            try:
                listener(status)
            except Exception:
                log.exception("a status listener failed")

    def _begin(self, stream: EventStream, ahead: int, submitted_at: float) -> None:
        task = asyncio.create_task(self._serve(stream, ahead, Progress(submitted_at)))
        self._turns.add(task)
        task.add_done_callback(self._turns.discard)
        task.add_done_callback(lambda _: self._admission.leave())

    async def _serve(self, stream: EventStream, ahead: int, progress: Progress) -> None:
        waiting = asyncio.create_task(self._claim(stream, ahead))
        stream.call_on_cancel(waiting.cancel)
        try:
            engine, slots = await waiting
        except (asyncio.CancelledError, EngineFailed) as reason:
            failed = isinstance(reason, EngineFailed)
            outcome = Outcome.FAILED if failed else Outcome.CANCELLED
            message = f"The engine is not running: {reason}" if failed else ""
            stream.finish(self._end(stream, outcome, progress, message))
            return
        try:
            stream.finish(await self._run(engine, stream, progress))
        except asyncio.CancelledError:
            stream.finish(self._end(stream, Outcome.CANCELLED, progress))
        finally:
            slots.release()

    async def _claim(self, stream: EventStream, ahead: int) -> tuple[Engine, asyncio.Semaphore]:
        if ahead:
            text = f"Waiting for the engine: {ahead} ahead of you."
            await stream.put(Notice(turn_id=stream.turn.id, code=QUEUED, text=text))
        while True:
            engine = await self._supervisor.ready()
            slots = self._supervisor.slots
            await slots.acquire()
            if self._supervisor.serves(engine):
                return engine, slots
            slots.release()

    async def _run(self, engine: Engine, stream: EventStream, progress: Progress) -> TurnEnd:
        runner = TurnRunner(engine, stream, stall_timeout_s=self._stall_timeout_s)
        try:
            return await runner.run(progress)
        except TurnHung:
            self._supervisor.replace(engine, "Restarting: a turn did not stop")
            message = "The engine hung and is being restarted. Please try again."
        except TurnStalled:
            await self._supervisor.check(engine, "a stalled turn")
            message = f"Nothing happened for {self._stall_timeout_s:g} seconds, so this was ended."
        except Exception as error:
            log.exception("turn %s failed", stream.turn.id)
            await self._supervisor.check(engine, "a failed turn")
            message = f"This went wrong: {in_words(error)}"
        outcome = Outcome.CANCELLED if stream.cancelled else Outcome.FAILED
        return self._end(stream, outcome, progress, message)

    @staticmethod
    def _end(
        stream: EventStream, outcome: Outcome, progress: Progress, message: str = ""
    ) -> TurnEnd:
        return TurnEnd(
            turn_id=stream.turn.id, outcome=outcome, message=message, metrics=progress.metrics()
        )
