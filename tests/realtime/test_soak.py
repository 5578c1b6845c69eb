"""A call of twenty minutes, spoken as fast as it is taken: nothing is lost or piles up."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections import Counter

import numpy as np
import psutil
import pytest
from websockets.asyncio.client import connect

from backend.contract.events import Outcome
from backend.runtime.engine_thread import EngineThread
from tests.realtime.sounds import RATE, coughs, keyboard, music, pause, speech
from tests.realtime.test_call import Caller
from tests.scripted_engine import ScriptedEngine, say
from tests.serving import Served, serve_routes

ID = "d" * 32
MINUTES = 20
QUESTIONS = 40
INTERRUPTED = range(2, QUESTIONS - 1, 4)
"""The questions whose answers are long, and are spoken into with the next question: ten."""

NOISES = (pause, keyboard, coughs, music)
NOISE_S = 60 * MINUTES / QUESTIONS - len(speech()) / RATE - 2
WARM_UP = 10
MAX_GROWTH = 16_000_000
"""Bytes by which the process may grow after the warm-up; a minute of its sound has 7.7 million."""

BRIEF = say("It has eight legs.", chunks=4)
LONG = say("A long reply that goes on.", chunks=400, chunk_s=0.05, pause_s=0.02)


@pytest.fixture
def engine():
    return ScriptedEngine(BRIEF, words="How many legs does a spider have?")


@pytest.fixture
def app(engine):
    with serve_routes(EngineThread(lambda: engine)) as served:
        yield served


def tasks_of(app: Served) -> Counter:
    """What the server's loop is at work on."""
    names: Counter = Counter()
    app.on_server(
        lambda: names.update(task.get_coro().__qualname__ for task in asyncio.all_tasks())
    )
    return names


def threads() -> set[str]:
    """The threads that run, but for those that are kept for the next piece of work."""
    return {thread.name for thread in threading.enumerate() if "asyncio_" not in thread.name}


def memory() -> int:
    gc.collect()
    return psutil.Process().memory_info().rss


async def test_twenty_minutes_of_a_call(app, engine, until):
    assert len(INTERRUPTED) == 10
    noises = [noise(NOISE_S) for noise in NOISES]
    url = f"ws{app.url[4:]}/v1/realtime"
    async with connect(url, subprotocols=[f"omni-session.{ID}"], max_size=None) as socket:
        caller = Caller(socket)
        await caller.send(type="input_audio_buffer.clear")
        await caller.until("input_audio_buffer.cleared")
        before = tasks_of(app), threads()
        await caller.begin()
        told, asked, spoken_s = [], 0, 0.0
        for number in range(QUESTIONS):
            engine.script = LONG if number in INTERRUPTED else BRIEF
            sound = np.concatenate((noises[number % len(noises)], speech(), pause(2)))
            await caller.speak(sound)
            spoken_s += len(sound) / RATE
            if number - 1 in INTERRUPTED:
                told += await caller.until("response.done")
            wanted = "response.output_audio.delta" if number in INTERRUPTED else "response.done"
            told += await caller.until(wanted)
            told = [message for message in told if message["type"] != "response.output_audio.delta"]
            # The double keeps every turn that it was asked; an engine does not.
            asked += len(engine.runs)
            engine.runs.clear()
            engine.heard.clear()
            if number == WARM_UP:
                at_first = memory()
        assert memory() - at_first < MAX_GROWTH
        await caller.send(type="session.update", session={"turn_detection": None})
        told += await caller.until("session.updated")
        assert spoken_s == pytest.approx(60 * MINUTES, abs=1)
        assert asked == QUESTIONS
        await until(lambda: engine.running == 0)
        await until(lambda: tasks_of(app) == before[0])
        assert threads() == before[1]

    outcomes = [record.outcome for record in app.registry.get(ID).records]
    expected = [
        Outcome.CANCELLED if number in INTERRUPTED else Outcome.ANSWERED
        for number in range(QUESTIONS)
    ]
    assert outcomes == expected
    kinds = Counter(message["type"] for message in told)
    for kind in ("speech_started", "speech_stopped", "committed"):
        assert kinds[f"input_audio_buffer.{kind}"] == QUESTIONS
    assert kinds["response.done"] == kinds["response.created"] == QUESTIONS
    assert kinds["error"] == kinds["omni.utterance.dropped"] == 0
