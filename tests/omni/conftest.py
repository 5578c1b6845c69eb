"""The app on vLLM-Omni with tiny random models, started once for the whole run."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from backend.contract.engine import EngineState
from backend.contract.events import Event, ReplyText, SpeechChunk, TurnEnd
from backend.contract.media import AudioClip, VideoFrames
from backend.contract.turn import Turn, TurnSettings
from backend.engines.omni.engine import OmniEngine
from backend.engines.omni.launch import Launch
from backend.runtime.engine_thread import EngineThread
from backend.settings import Settings
from tests.serving import serve
from tests.tiny_models import write_aura_deploy, write_aura_models

START_TIMEOUT_S = 900


@dataclass
class Told:
    """What a turn said of itself."""

    events: list[Event]

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def reply(self) -> str:
        return "".join(event.delta for event in self.of(ReplyText))

    @property
    def sound(self) -> np.ndarray:
        chunks = [event.pcm for event in self.of(SpeechChunk)]
        return np.concatenate(chunks) if chunks else np.zeros(0, np.float32)

    @property
    def end(self) -> TurnEnd:
        [end] = self.of(TurnEnd)
        return end


@dataclass
class Omni:
    """The running app, its engine thread, and the engines that it has had."""

    url: str
    thread: EngineThread
    engines: list[OmniEngine] = field(default_factory=list)

    async def ask(self, **asked: Any) -> Told:
        """Ask one turn and wait for its end."""
        asked.setdefault("settings", TurnSettings(max_reply_tokens=24))
        stream = self.thread.submit(Turn("tests", 0, **asked))
        return Told([event async for event in stream])

    async def on_engine(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine on the engine's own loop."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self.thread._loop))

    @property
    def engine(self) -> OmniEngine:
        return self.engines[-1]

    def open_requests(self) -> set[str]:
        """Requests that the engine still holds, in front or in its orchestrator."""
        omni = self.engine.pipeline.omni
        return {*omni.request_states, *omni.engine._orchestrator.request_states}

    async def until_ready(self) -> None:
        for _ in range(START_TIMEOUT_S * 2):
            if self.thread.status.state is EngineState.READY:
                return
            assert self.thread.status.state is not EngineState.FAILED, self.thread.status.message
            await asyncio.sleep(0.5)
        raise AssertionError("the engine was not ready in time")


def prepare() -> None:
    """Get ready to start an engine on a CPU."""
    import omni_cpu

    # One thread for each stage on few cores, and no look for models that are all here.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    omni_cpu.prepare()


@pytest.fixture(scope="session")
def omni(tmp_path_factory) -> Iterator[Omni]:
    """The app on an engine with voices of its own; each rebuilt engine copies voices instead."""
    prepare()
    folder = tmp_path_factory.mktemp("omni")
    engines: list[OmniEngine] = []

    def make() -> OmniEngine:
        kind = "Base" if engines else "CustomVoice"
        models = write_aura_models(folder, kind)
        deploy = write_aura_deploy(folder / f"{kind}.yaml", models, speech_tokens=16)
        engines.append(OmniEngine(Launch(deploy)))
        return engines[-1]

    thread = EngineThread(make, stall_timeout_s=120)
    with serve(thread, Settings(_env_file=None)) as url:
        yield Omni(url, thread, engines)


@pytest.fixture
def clip() -> AudioClip:
    """A second and a half of noise: random models hear words in it."""
    noise = np.random.default_rng(5).normal(0, 0.1, 24_000)
    return AudioClip(noise.astype(np.float32), 16_000)


@pytest.fixture
def frames() -> VideoFrames:
    """Four small frames of a second."""
    images = np.random.default_rng(6).integers(0, 255, (4, 64, 96, 3), dtype=np.uint8)
    return VideoFrames(images, np.array([0.0, 0.25, 0.5, 0.75]), 1.0)
