"""The remote engine against vLLM-Omni's own server, on a CPU, with tiny random models.

In this order: the server is stopped at the end.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
import pytest

from backend.contract.engine import EngineState
from backend.contract.events import (
    Notice,
    Outcome,
    SpeechChunk,
    StageStarted,
    StageTiming,
    Transcript,
)
from backend.contract.turn import Exchange, Turn
from backend.engines.choose import engine_factory
from backend.runtime.engine_thread import EngineThread
from backend.settings import Settings
from tests.omni.calls import ask_in_a_call
from tests.omni.conftest import Omni, Told
from tests.serving import serve_routes
from tests.tiny_models.serving import Served, serve_aura

pytestmark = [
    pytest.mark.omni,
    pytest.mark.skipif(find_spec("vllm_omni") is None, reason="vLLM-Omni is not installed"),
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.timeout(900),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Served]:
    """One place for a session: a turn that did not give it back would hold up the next."""
    with serve_aura(tmp_path_factory.mktemp("remote"), reply_tokens=12, speech_tokens=24) as served:
        yield served


@pytest.fixture(scope="module")
def remote(server) -> Iterator[Omni]:
    """The app's routes on the remote engine, as the settings make it."""
    settings = Settings(_env_file=None, engine="remote", url=server.url, stall_timeout_s=120)
    thread = EngineThread(engine_factory(settings), stall_timeout_s=120)
    with serve_routes(thread) as app:
        yield Omni(app.url, thread)


def waited_for_the_server(told: Told) -> bool:
    return any("server is busy" in notice.text for notice in told.of(Notice))


async def test_the_engine_waits_until_the_server_is_warm(remote, server):
    await remote.until_ready()
    known = remote.thread.status.capabilities
    assert server.url in known.summary
    assert "aura" in known.summary
    assert not known.hears_ahead


async def test_a_spoken_question_with_frames_is_answered_aloud(remote, clip, frames):
    told = await remote.ask(audio=clip, frames=frames)
    assert told.end.outcome is Outcome.ANSWERED
    assert told.of(Transcript)[-1].final
    assert told.reply
    assert {event.sample_rate for event in told.of(SpeechChunk)} == {24_000}
    assert len(told.of(SpeechChunk)) > 1
    assert np.abs(told.sound).max() > 0.01
    assert [event.stage for event in told.of(StageStarted)] == ["hear", "think", "speak"]
    times = {event.stage: event for event in told.of(StageTiming)}
    assert list(times) == ["hear", "think"]
    assert all(0 < time.first_output_s <= time.total_s for time in times.values())
    assert not told.of(Notice)


async def test_typed_words_are_answered_aloud_without_being_heard(remote):
    told = await remote.ask(text="Hello there", history=(Exchange("Hi", "Hello."),))
    assert told.end.outcome is Outcome.ANSWERED
    assert len(told.sound) > 1920
    assert not told.of(Transcript)


async def test_stopping_in_mid_speech_gives_the_place_back(remote, clip):
    stream = remote.thread.submit(Turn("tests", 0, audio=clip))
    told = []
    async for event in stream:
        told.append(event)
        if isinstance(event, SpeechChunk) and not stream.cancelled:
            stream.cancel()
    assert told[-1].outcome is Outcome.CANCELLED
    after = await remote.ask(text="Hello")
    assert after.end.outcome is Outcome.ANSWERED
    assert not waited_for_the_server(after)


async def test_stopping_while_it_is_heard_gives_the_place_back(remote, clip):
    stream = remote.thread.submit(Turn("tests", 0, audio=clip))
    async for event in stream:
        if isinstance(event, StageStarted):
            stream.cancel()
    after = await remote.ask(text="Hello")
    assert after.end.outcome is Outcome.ANSWERED
    assert not waited_for_the_server(after)


async def test_a_call_is_heard_seen_and_answered(remote):
    told = await ask_in_a_call(remote.url)
    kinds = [message["type"] for message in told]
    assert told[-1]["outcome"] == "answered"
    assert "omni.utterance.dropped" not in kinds
    assert kinds.count("response.output_audio.delta") > 1


async def test_a_server_that_dies_fails_its_turn_and_is_waited_for(remote, server, clip):
    stream = remote.thread.submit(Turn("tests", 0, audio=clip))
    end = None
    async for event in stream:
        if isinstance(event, Transcript):
            await asyncio.to_thread(server.stop, signal.SIGKILL)
        end = event
    assert end.outcome is Outcome.FAILED
    assert "connection to the server was lost" in end.message
    assert remote.thread.status.state is EngineState.LOADING
    assert "does not answer" in remote.thread.status.message
