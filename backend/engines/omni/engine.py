"""vLLM-Omni in process: made, used and closed on the engine thread's loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import uuid4

from backend.contract.engine import Capabilities, Progress
from backend.contract.errors import EngineFailed
from backend.contract.events import Event
from backend.contract.media import AudioClip
from backend.contract.turn import Turn
from backend.engines.ending import stopped
from backend.engines.events import Emit, events_of
from backend.engines.omni.door import check_turn
from backend.engines.omni.launch import Launch
from backend.engines.omni.mimo.pipeline import MimoPipeline
from backend.engines.omni.mimo.work import TaskWork
from backend.engines.omni.pipeline import Pipeline
from backend.engines.omni.prompts import heard_words
from backend.engines.omni.speech import recite
from backend.engines.omni.speech_pipeline import SpeechPipeline
from backend.engines.omni.turn_work import TurnWork
from backend.engines.omni.warm_up import warm_up
from backend.media.pauses import is_quiet, pieces

if TYPE_CHECKING:
    from backend.engines.omni.staged import StagedOmni


T = TypeVar("T")


class OmniEngine:
    """Hears, looks, thinks and speaks with AURA, or does what another pipeline can.

    Qwen3-TTS alone speaks texts; MiMo-Audio works on tasks.
    """

    def __init__(self, launch: Launch) -> None:
        """Take what starts the pipeline; ``load`` starts it."""
        self._launch = launch
        self._omni: StagedOmni | None = None
        self._pipeline: SpeechPipeline | MimoPipeline | None = None
        self._capabilities: Capabilities | None = None
        self._closing = asyncio.Event()

    @property
    def pipeline(self) -> SpeechPipeline | MimoPipeline:
        """The running pipeline.

        Raises:
            EngineFailed: It is not loaded.
        """
        if self._pipeline is None:
            raise EngineFailed("The engine is not loaded.")
        return self._pipeline

    @property
    def _aura(self) -> Pipeline:
        """The running pipeline, where the door has let through what needs AURA."""
        return cast("Pipeline", self.pipeline)

    @property
    def capabilities(self) -> Capabilities:
        """What this engine can do.

        Raises:
            EngineFailed: It is not loaded.
        """
        if self._capabilities is None:
            raise EngineFailed("The engine is not loaded.")
        return self._capabilities

    async def load(self, progress: Progress) -> None:
        """Start the stages and have each of them work once, so that the first turn is no slower.

        Raises:
            LaunchFailed: A stage could not be started; the message says what is known of why.
        """
        self._omni = await self._launch.start(progress)
        self._pipeline = self._launch.pipeline(self._omni)
        progress(0.95, "Warming up")
        await warm_up(self._pipeline)
        self._capabilities = self._pipeline.describe()
        progress(1.0, "Ready")

    async def run(self, turn: Turn) -> AsyncIterator[Event]:
        """Work on one turn.

        Yields:
            Every event but ``TurnEnd``. ``speak`` starts with the first sentence that can be
            spoken, while the rest of the reply is being written.

        Raises:
            TurnRefused: A setting or an input is out of bounds.
            StageFailed: A stage failed on this turn, in plain words.
            EngineFailed: A stage is dead.
        """
        await self.health()
        check_turn(turn, self.capabilities)
        async with aclosing(events_of(partial(self._work, turn))) as events:
            async for event in events:
                yield event

    async def hear(self, clip: AudioClip, language: str) -> str:
        """The words of a clip, outside any turn; empty when nobody speaks.

        Raises:
            EngineFailed: A stage is dead.
        """
        await self.health()
        parts = [] if is_quiet(clip) else pieces(clip)
        heard = [await self._unless_closed(self._words(part, language)) for part in parts]
        return " ".join(filter(None, heard))

    async def foresee(self, turn: Turn) -> None:
        """Nothing: a GPU reads a whole prompt in the time of a few tokens."""

    async def _words(self, clip: AudioClip, language: str) -> str:
        written = ""
        async with aclosing(self._aura.hear(clip, language, f"hear-{uuid4().hex}")) as outputs:
            async for output in outputs:
                written += output.text
        return heard_words(written)

    async def _work(self, turn: Turn, emit: Emit) -> None:
        await self._unless_closed(self._work_on(turn, emit))

    async def _unless_closed(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of work that ends when the engine is closed.

        Nobody answers a request of an engine that is shut down for another turn's sake.
        """
        working = asyncio.create_task(work)
        closing = asyncio.create_task(self._closing.wait())
        try:
            await asyncio.wait({working, closing}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                raise EngineFailed("It was stopped while this was being worked on.")
            return await working
        finally:
            await stopped(working)
            await stopped(closing)

    async def _work_on(self, turn: Turn, emit: Emit) -> None:
        pipeline = self.pipeline
        if isinstance(pipeline, MimoPipeline):
            await TaskWork(turn, pipeline, emit).run()
            return
        if turn.script:
            await recite(turn, pipeline, emit)
            return
        work = TurnWork(turn, self._aura, emit)
        await work.run()
        if work.speech_failed:
            await self.health()

    async def health(self) -> None:
        """Return when every stage is alive.

        Raises:
            EngineFailed: It is not loaded, or a stage's process has ended.
        """
        if self._omni is None:
            raise EngineFailed("The engine is not running.")
        try:
            await self._omni.check_health()
        except Exception as error:
            raise EngineFailed("A stage of the model has stopped.") from error

    async def close(self) -> None:
        """Stop the stages and their processes. Harmless a second time, also while it loads."""
        self._closing.set()
        omni, self._omni = self._omni, None
        await self._launch.stop(omni)
