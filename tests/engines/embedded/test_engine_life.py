"""How the engine loads, tells its health and closes, also when a stage is stuck."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import textwrap
import threading
import time
from functools import partial

import numpy as np
import pytest

from backend.contract.errors import EngineFailed
from backend.contract.events import Outcome
from backend.engines.failures import ModelMissing, StageFailed
from backend.runtime import turn_runner
from backend.runtime.engine_thread import EngineThread
from tests.engines.embedded.doubles import (
    FakeChat,
    FakeEyes,
    FakeRecognizer,
    FakeVoice,
    a_clip,
    a_turn,
    events_of,
    fake_engine,
)


class StuckRecognizer(FakeRecognizer):
    """Ignores its stop signal, as a native call does, until it is released."""

    def __init__(self):
        super().__init__()
        self.inside, self.release = threading.Event(), threading.Event()

    def transcribe(self, clip, language, stop, report):
        self.inside.set()
        self.release.wait(20)
        yield "late"


async def a_stuck_turn(engine, recognizer):
    task = asyncio.create_task(events_of(engine, a_turn(audio=a_clip())))
    assert await asyncio.to_thread(recognizer.inside.wait, 5)
    return task


async def all_of(stream):
    return [event async for event in stream]


async def test_closing_ends_every_thread_even_in_mid_turn(loaded):
    before = set(threading.enumerate())
    engine = await loaded(chat=FakeChat(tuple("abc " * 500), pause_s=0.02))
    task = asyncio.create_task(events_of(engine, a_turn(text="Hello")))
    await asyncio.sleep(0.2)
    await engine.close()
    await engine.close()
    task.cancel()
    await asyncio.wait({task})
    names = [thread.name for thread in set(threading.enumerate()) - before]
    assert not [name for name in names if name.startswith("embedded")]


async def test_closing_frees_every_model(loaded):
    freed = []
    stages = {
        "recognizer": FakeRecognizer(),
        "eyes": FakeEyes(),
        "chat": FakeChat(),
        "voice": FakeVoice(),
    }
    for name, stage in stages.items():
        stage.close = lambda name=name: freed.append((name, threading.current_thread().name))
    engine = await loaded(**stages)
    await engine.close()
    assert sorted(freed) == [
        ("chat", "embedded-think"),
        ("eyes", "embedded-see"),
        ("recognizer", "embedded-hear"),
        ("voice", "embedded-speak"),
    ]


async def test_closing_leaves_a_stuck_stage_in_time_and_never_blocks_the_loop(loaded, caplog):
    recognizer = StuckRecognizer()
    engine = await loaded(recognizer=recognizer)
    task = await a_stuck_turn(engine, recognizer)
    ticks, started = [], time.monotonic()

    async def tick():
        while True:
            ticks.append(time.monotonic())
            await asyncio.sleep(0.01)

    ticking = asyncio.create_task(tick())
    await engine._crew.close(0.5)
    ticking.cancel()
    assert time.monotonic() - started < 2
    assert np.diff(ticks).max() < 0.25
    assert "The thread hear did not end" in caplog.text
    assert not recognizer.closed
    with pytest.raises(EngineFailed):
        await asyncio.wait_for(task, 2)
    recognizer.release.set()
    deadline = time.monotonic() + 5
    while not recognizer.closed:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


async def test_a_close_that_is_cancelled_leaves_the_loop_free(loaded):
    recognizer = StuckRecognizer()
    engine = await loaded(recognizer=recognizer)
    task = await a_stuck_turn(engine, recognizer)
    started = time.monotonic()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(engine.close(), 0.2)
    assert time.monotonic() - started < 1
    recognizer.release.set()
    await asyncio.wait({task}, timeout=5)
    assert task.done()


async def test_the_runtime_rebuilds_the_engine_when_a_cancelled_turn_is_stuck(monkeypatch):
    monkeypatch.setattr(turn_runner, "GRACE_S", 0.3, raising=False)
    stuck = StuckRecognizer()
    recognizers = [FakeRecognizer(), stuck]

    def make():
        engine = fake_engine(recognizer=recognizers.pop())
        engine._crew.close = partial(engine._crew.close, 0.3)
        return engine

    thread = EngineThread(make)
    thread.start()
    try:
        stream = thread.submit(a_turn(audio=a_clip()))
        assert await asyncio.to_thread(stuck.inside.wait, 10)
        stream.cancel()
        await asyncio.wait_for(all_of(stream), 15)
        answered = await asyncio.wait_for(all_of(thread.submit(a_turn(audio=a_clip()))), 15)
    finally:
        await asyncio.to_thread(thread.close)
    assert not recognizers
    assert answered[-1].outcome is Outcome.ANSWERED
    assert not stuck.closed
    stuck.release.set()


def test_a_stuck_stage_does_not_keep_the_process_from_exiting():
    program = """
        import asyncio, threading
        from tests.engines.embedded.doubles import FakeEyes, a_picture, a_turn, fake_engine

        inside = threading.Event()

        class StuckEyes(FakeEyes):
            def look(self, frames, stop):
                inside.set()
                threading.Event().wait()

        async def main():
            engine = fake_engine(eyes=StuckEyes())
            await engine.load(lambda share, words: None)
            stream = engine.run(a_turn(text="Hello", frames=a_picture()))
            task = asyncio.create_task(anext(stream))
            while not inside.is_set():
                await asyncio.sleep(0.01)
            await engine._crew.close(0.2)
            task.cancel()

        asyncio.run(main())
        print("over")
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert ran.stdout == "over\n"


async def test_health_tells_a_dead_model_in_plain_words_and_a_closed_engine(loaded):
    chat = FakeChat()
    engine = await loaded(chat=chat)
    await engine.health()
    chat.healthy = False
    with pytest.raises(EngineFailed, match=r"^The chat model does not answer\.$"):
        await engine.health()
    await engine.close()
    with pytest.raises(EngineFailed):
        await engine.health()


async def test_a_clip_that_is_being_heard_is_no_stuck_stage(loaded):
    recognizer = StuckRecognizer()
    recognizer.release.set()
    engine = await loaded(recognizer=recognizer)
    recognizer.release.clear()
    recognizer.inside.clear()
    hearing = asyncio.create_task(engine.hear(a_clip(), "en"))
    assert await asyncio.to_thread(recognizer.inside.wait, 5)
    await engine.health()
    recognizer.release.set()
    assert await hearing == "late"


@pytest.mark.parametrize("name", ["hear", "see", "think", "speak"])
async def test_health_tells_a_stage_that_is_stuck_while_no_turn_is_under_way(loaded, name):
    engine = await loaded()
    release = threading.Event()
    thread = getattr(engine._crew, name)
    stuck = thread.submit(lambda: release.wait(10))
    started = time.monotonic()
    with pytest.raises(EngineFailed, match=f"'{name}' is stuck"):
        await engine.health()
    assert time.monotonic() - started < 4
    release.set()
    await asyncio.wrap_future(stuck)
    await engine.health()


async def test_health_is_told_in_time_when_the_chat_model_hangs(loaded):
    chat, release = FakeChat(), threading.Event()
    engine = await loaded(chat=chat)
    chat.check = lambda: release.wait(20)
    started = time.monotonic()
    with pytest.raises(EngineFailed, match="does not answer"):
        await engine.health()
    assert time.monotonic() - started < 4.5
    release.set()


async def test_a_thread_at_work_on_a_turn_is_healthy(loaded):
    recognizer = StuckRecognizer()
    engine = await loaded(recognizer=recognizer)
    task = await a_stuck_turn(engine, recognizer)
    assert await engine.health() is None
    assert not task.done()
    recognizer.release.set()
    await task
    assert await engine.health() is None


async def test_loading_tells_its_progress_up_to_the_end(loaded):
    engine, told = fake_engine(), []
    await engine.load(lambda share, words: told.append(share))
    await engine.close()
    assert told == sorted(told)
    assert told[0] == 0.0
    assert told[-1] == 1.0


async def test_a_load_that_fails_tells_one_error_at_once_and_no_progress_afterwards(caplog):
    release, told = threading.Event(), []

    class SlowVoice(FakeVoice):
        def load(self):
            release.wait(10)

    class BrokenEyes(FakeEyes):
        def load(self):
            raise RuntimeError("onnxruntime: protobuf parsing failed")

    class MissingRecognizer(FakeRecognizer):
        def load(self):
            release.wait(10)
            raise ModelMissing("late")

    engine = fake_engine(
        voice=SlowVoice(), eyes=BrokenEyes(), recognizer=MissingRecognizer(), chat=FakeChat()
    )
    with pytest.raises(StageFailed) as failure:
        await asyncio.wait_for(engine.load(lambda share, words: told.append(share)), 5)
    assert str(failure.value) == "The sight could not be loaded. The log says why."
    assert "protobuf" in str(failure.value.__cause__)
    before = list(told)
    release.set()
    with caplog.at_level(logging.ERROR):
        await engine.close()
    assert told == before
    assert not caplog.records
    assert not [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]


async def test_a_missing_model_is_told_in_its_own_words():
    class MissingRecognizer(FakeRecognizer):
        def load(self):
            raise ModelMissing("Install the package.")

    engine = fake_engine(recognizer=MissingRecognizer())
    with pytest.raises(ModelMissing, match=r"^Install the package\.$"):
        await engine.load(lambda share, words: None)
    await engine.close()


async def test_a_load_that_is_cancelled_ends_at_once_and_tells_nothing_more():
    release, told = threading.Event(), []

    class SlowVoice(FakeVoice):
        def load(self):
            release.wait(10)

    engine = fake_engine(voice=SlowVoice())
    loading = asyncio.create_task(engine.load(lambda share, words: told.append(share)))
    await asyncio.sleep(0.1)
    loading.cancel()
    await asyncio.wait({loading}, timeout=1)
    assert loading.cancelled()
    before = list(told)
    release.set()
    await engine.close()
    assert told == before
