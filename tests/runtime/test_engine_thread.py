"""The engine thread: every turn ends once, and one bad turn never stops another."""

from __future__ import annotations

import asyncio
import threading
import time

import numpy as np
import pytest

from backend.contract.engine import EngineState
from backend.contract.errors import EngineFailed, TurnRefused
from backend.contract.events import (
    Notice,
    Outcome,
    ReplyText,
    Silence,
    SpeechChunk,
    TurnEnd,
)
from backend.contract.tasks import TaskRequest
from backend.contract.turn import Turn
from backend.runtime import turn_runner
from backend.runtime.engine_thread import EngineThread
from tests.scripted_engine import (
    ScriptedEngine,
    die,
    hang,
    ignore_cancel,
    only_finish,
    raise_error,
    say,
    stay_silent,
    tone,
)


def turn(text: str = "hi", session: str = "a") -> Turn:
    return Turn(session_id=session, generation=1, text=text)


async def collect(stream) -> list:
    return [event async for event in stream]


async def run(thread: EngineThread, text: str = "hi") -> list:
    return await collect(thread.submit(turn(text)))


def ends(events: list) -> list[TurnEnd]:
    return [event for event in events if isinstance(event, TurnEnd)]


async def test_an_answered_turn_brings_every_event_in_order_and_one_end(start):
    events = await run(start(ScriptedEngine(say("One two three.", chunks=4))))
    assert "".join(e.delta for e in events if isinstance(e, ReplyText)) == "One two three."
    sound = np.concatenate([e.pcm for e in events if isinstance(e, SpeechChunk)])
    np.testing.assert_array_equal(sound, tone(0.8))
    assert len(ends(events)) == 1
    assert events[-1].outcome is Outcome.ANSWERED
    metrics = events[-1].metrics
    assert 0 <= metrics["queued_s"] <= metrics["first_text_s"] <= metrics["first_sound_s"]
    assert metrics["first_sound_s"] <= metrics["total_s"]


async def test_a_silent_turn_ends_as_silent_with_its_reason(start):
    events = await run(start(ScriptedEngine(stay_silent)))
    assert [e.reason for e in events if isinstance(e, Silence)] == ["Nothing was asked."]
    assert [e.outcome for e in ends(events)] == [Outcome.SILENT]


async def test_a_turn_that_only_finishes_is_silence_and_not_an_error(start):
    events = await run(start(ScriptedEngine(only_finish)))
    assert isinstance(events[-2], Silence)
    assert events[-1].outcome is Outcome.SILENT


async def test_text_without_sound_is_answered_and_says_so(start):
    events = await run(start(ScriptedEngine(say("Only text.", chunks=0))))
    assert [e.code for e in events if isinstance(e, Notice)] == ["speech_missing"]
    assert events[-1].outcome is Outcome.ANSWERED


async def test_a_task_that_is_only_written_misses_no_sound(start):
    thread = start(ScriptedEngine(say("Only text.", chunks=0)))
    task = TaskRequest("text_dialogue_sft_multiturn", text="Hi")
    events = await collect(thread.submit(Turn(session_id="a", generation=1, task=task)))
    assert not [event for event in events if isinstance(event, Notice)]


async def test_a_turn_that_raises_fails_alone_and_the_next_is_answered(start):
    engine = ScriptedEngine(scripts={"bad": raise_error})
    thread = start(engine)
    bad, good = await run(thread, "bad"), await run(thread, "good")
    assert bad[-1].outcome is Outcome.FAILED
    assert "a stage raised" in bad[-1].message
    assert good[-1].outcome is Outcome.ANSWERED
    assert not engine.closed


async def test_a_dead_engine_is_rebuilt_and_waiting_turns_are_answered(start):
    first, second = ScriptedEngine(die), ScriptedEngine()
    thread = start(first, second)
    states = []
    thread.watch(lambda status: states.append(status.state))
    dead, waiting = await asyncio.gather(run(thread), run(thread))
    assert dead[-1].outcome is Outcome.FAILED
    assert waiting[-1].outcome is Outcome.ANSWERED
    assert first.closed
    assert set(states) == {EngineState.LOADING, EngineState.READY}
    assert states[-1] is EngineState.READY


async def test_a_refusal_at_the_engines_door_fails_the_turn_with_its_message(start):
    async def refuse(engine, turn):
        raise TurnRefused("nope", "That voice does not exist.")
        yield

    events = await run(start(ScriptedEngine(refuse)))
    assert events[-1].outcome is Outcome.FAILED
    assert events[-1].message == "That voice does not exist."


async def test_cancel_drops_what_is_unread_and_stops_the_engine(start, until):
    engine = ScriptedEngine(say("Long.", chunks=200, chunk_s=0.05, pause_s=0.01))
    thread = start(engine)
    stream = thread.submit(turn())
    reader = aiter(stream)
    while not isinstance(await anext(reader), SpeechChunk):
        pass
    stream.cancel()
    rest = [event async for event in reader]
    assert [type(event) for event in rest] == [TurnEnd]
    assert rest[0].outcome is Outcome.CANCELLED
    await until(lambda: engine.running == 0)
    assert engine.stopped == [stream.turn.id]
    assert (await run(thread, "next"))[-1].outcome is Outcome.ANSWERED


async def test_cancel_while_waiting_ends_the_turn_without_running_it(start, until):
    engine = ScriptedEngine(scripts={"long": hang})
    thread = start(engine)
    long = thread.submit(turn("long"))
    await until(lambda: engine.running == 1)
    waiting = thread.submit(turn("short"))
    waiting.cancel()
    assert (await collect(waiting))[-1].outcome is Outcome.CANCELLED
    long.cancel()
    assert (await collect(long))[-1].outcome is Outcome.CANCELLED
    assert [ran.text for ran in engine.runs] == ["long"]


async def test_cancel_twice_and_after_the_end_is_harmless(start):
    thread = start(ScriptedEngine())
    stream = thread.submit(turn())
    stream.cancel()
    stream.cancel()
    events = await collect(stream)
    stream.cancel()
    assert len(ends(events)) == 1


async def test_a_stalled_turn_is_ended_and_a_healthy_engine_is_kept(start):
    engine = ScriptedEngine(scripts={"stall": hang})
    thread = start(engine, stall_timeout_s=0.2)
    events = await run(thread, "stall")
    assert events[-1].outcome is Outcome.FAILED
    assert "0.2 seconds" in events[-1].message
    assert not engine.closed
    assert (await run(thread, "next"))[-1].outcome is Outcome.ANSWERED


async def test_a_slow_turn_that_makes_progress_is_not_stalled(start):
    engine = ScriptedEngine(say(chunks=6, pause_s=0.15))
    events = await run(start(engine, stall_timeout_s=0.4))
    assert events[-1].outcome is Outcome.ANSWERED


async def test_a_turn_that_will_not_stop_has_its_engine_rebuilt(start, monkeypatch):
    monkeypatch.setattr(turn_runner, "GRACE_S", 0.2)
    stuck = ScriptedEngine(ignore_cancel)
    thread = start(stuck, ScriptedEngine(), stall_timeout_s=0.2)
    events = await run(thread)
    assert events[-1].outcome is Outcome.FAILED
    assert "restarted" in events[-1].message
    assert (await run(thread))[-1].outcome is Outcome.ANSWERED
    assert stuck.closed


async def test_an_engine_that_cannot_load_refuses_turns_with_the_reason_until_rebuilt(start, until):
    thread = start(ScriptedEngine(load_error="No model at /nowhere."), ScriptedEngine())
    await until(lambda: thread.status.state is EngineState.FAILED)
    with pytest.raises(TurnRefused, match="No model at /nowhere"):
        thread.submit(turn())
    thread.rebuild_if_failed()
    await until(lambda: thread.status.state is EngineState.READY)
    assert (await run(thread))[-1].outcome is Outcome.ANSWERED


async def test_a_factory_that_raises_is_a_failed_engine_with_its_reason(until):
    supply = iter([ImportError("libGL.so.1 is missing"), ScriptedEngine()])
    asked = threading.Event()

    def make():
        if isinstance(made := next(supply), Exception):
            asked.wait(10)
            raise made
        return made

    thread = EngineThread(make)
    thread.start()
    try:
        waiting = thread.submit(turn())
        asked.set()
        assert "libGL.so.1" in (await collect(waiting))[-1].message
        assert thread.status.state is EngineState.FAILED
        thread.rebuild_if_failed()
        await until(lambda: thread.status.state is EngineState.READY)
    finally:
        await asyncio.to_thread(thread.close)


async def test_a_part_that_reports_after_the_load_has_failed_is_not_heard(start, until):
    class Late(ScriptedEngine):
        async def load(self, progress):
            asyncio.get_running_loop().call_later(0.1, progress, 0.9, "Late")
            raise EngineFailed("One part failed.")

    thread = start(Late())
    await until(lambda: thread.status.state is EngineState.FAILED)
    await asyncio.sleep(0.3)
    assert thread.status.message == "One part failed."


async def test_an_exception_without_words_is_told_by_its_name(start):
    async def time_out(engine, turn):
        raise TimeoutError
        yield

    events = await run(start(ScriptedEngine(time_out)))
    assert events[-1].message == "This went wrong: TimeoutError"


async def test_a_turn_sent_while_loading_is_answered_once_ready(start):
    events = await run(start(ScriptedEngine(load_s=0.2)))
    assert events[-1].outcome is Outcome.ANSWERED


async def test_the_line_is_bounded_and_tells_how_many_are_ahead(start, until):
    engine = ScriptedEngine(scripts={"long": hang})
    thread = start(engine, max_waiting=2)
    long = thread.submit(turn("long"))
    await until(lambda: engine.running == 1)
    waiting = [thread.submit(turn(session=str(n))) for n in range(2)]
    with pytest.raises(TurnRefused, match="Too many people"):
        thread.submit(turn())
    told = [await anext(aiter(stream)) for stream in waiting]
    assert [notice.code for notice in told] == ["queued", "queued"]
    assert ["1 ahead" in told[0].text, "2 ahead" in told[1].text] == [True, True]
    for stream in (*waiting, long):
        stream.cancel()
    assert [(await collect(s))[-1].outcome for s in (long, *waiting)] == [Outcome.CANCELLED] * 3


async def test_turns_run_side_by_side_where_the_engine_allows(start, until):
    engine = ScriptedEngine(scripts={"long": hang}, concurrent=2)
    thread = start(engine)
    long = thread.submit(turn("long"))
    await until(lambda: engine.running == 1)
    assert (await run(thread, "short"))[-1].outcome is Outcome.ANSWERED
    long.cancel()
    assert (await collect(long))[-1].outcome is Outcome.CANCELLED


async def test_a_reader_that_lags_loses_nothing(start):
    engine = ScriptedEngine(say(chunks=300, chunk_s=0.01))
    stream = start(engine).submit(turn())
    sound = []
    async for event in stream:
        if isinstance(event, SpeechChunk):
            sound.append(event.pcm)
            await asyncio.sleep(0.001)
    np.testing.assert_array_equal(np.concatenate(sound), tone(3.0))


async def test_empty_chunks_never_reach_the_reader(start):
    async def holes(engine, turn):
        for size in (0, 240, 0, 240):
            yield SpeechChunk(turn_id=turn.id, pcm=np.ones(size, np.float32), sample_rate=24_000)

    events = await run(start(ScriptedEngine(holes)))
    assert [len(e.pcm) for e in events if isinstance(e, SpeechChunk)] == [240, 240]


def test_a_stream_can_be_read_from_another_thread_and_loop(start):
    thread = start(ScriptedEngine(say(chunks=100, chunk_s=0.01)))
    outcomes = []

    def read():
        events = asyncio.run(run(thread))
        outcomes.append(events[-1].outcome)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(20)
    assert outcomes == [Outcome.ANSWERED] * 4


async def test_close_ends_running_turns_and_leaves_no_thread(start, until):
    engine = ScriptedEngine(hang)
    thread = start(engine)
    stream = thread.submit(turn())
    await until(lambda: engine.running == 1)
    await asyncio.to_thread(thread.close)
    assert (await collect(stream))[-1].outcome is Outcome.CANCELLED
    assert engine.closed
    assert not any(t.name == "engine" and t.is_alive() for t in threading.enumerate())
    with pytest.raises(TurnRefused):
        thread.submit(turn())


async def test_a_blocked_loop_is_noticed(start, until):
    async def block(engine, turn):
        time.sleep(0.5)  # noqa: ASYNC251 - the fault that is tried
        yield ReplyText(turn_id=turn.id, delta="done")

    thread = start(ScriptedEngine(block))
    await until(lambda: thread.status.state is EngineState.READY)
    assert thread.responds()
    stream = thread.submit(turn())
    await asyncio.sleep(0.1)
    assert not thread.responds(timeout_s=0.1)
    assert (await collect(stream))[-1].outcome is Outcome.ANSWERED
