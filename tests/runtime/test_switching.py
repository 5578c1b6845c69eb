"""Several pipelines on one engine thread: one takes the place of another, and no turn is lost."""

from __future__ import annotations

import asyncio
import threading

import pytest

from backend.contract.engine import EngineState
from backend.contract.errors import EngineFailed, TurnRefused
from backend.contract.events import Notice, Outcome, ReplyText, TurnEnd
from backend.contract.turn import Turn, TurnSettings
from backend.contract.voice import VoiceControls, VoiceSpec
from backend.runtime import supervisor, turn_runner
from backend.runtime.engine_thread import EngineThread
from tests.scripted_engine import ScriptedEngine, hang, ignore_cancel, raise_error, say


class Gated(ScriptedEngine):
    """Ready, and closed, when its gate is open."""

    def __init__(self, *args, shut: bool = False, **options):
        super().__init__(*args, **options)
        self.gate = threading.Event()
        if not shut:
            self.gate.set()
        self.given_up = False

    async def load(self, progress):
        progress(0.3, "Loading the weights")
        try:
            while not self.gate.is_set():  # noqa: ASYNC110 - it is set from another thread
                await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            self.given_up = True
            raise
        await super().load(progress)


@pytest.fixture
async def begin(until):
    """Start a thread on engines by pipeline, and wait for the first; each is used once."""
    threads = []

    async def begin(pipelines: dict[str, list], **options) -> EngineThread:
        supplies = {name: iter(engines) for name, engines in pipelines.items()}
        makers = {name: lambda supply=supply: next(supply) for name, supply in supplies.items()}
        thread = EngineThread(makers, **options)
        threads.append(thread)
        thread.start()
        await until(lambda: thread.status.state is EngineState.READY)
        return thread

    yield begin
    for thread in threads:
        await asyncio.to_thread(thread.close)


@pytest.fixture
def runs(until):
    """Wait until a pipeline runs."""

    async def wait(thread: EngineThread, pipeline: str) -> None:
        await until(
            lambda: (thread.status.pipeline, thread.status.state) == (pipeline, EngineState.READY)
        )

    return wait


def ask(thread: EngineThread, text: str = "hi", **settings):
    return thread.submit(
        Turn(session_id="a", generation=1, text=text, settings=TurnSettings(**settings))
    )


async def collect(stream) -> list:
    return [event async for event in stream]


def said(events: list) -> str:
    return "".join(event.delta for event in events if isinstance(event, ReplyText))


def told(events: list) -> list[str]:
    return [event.text for event in events if isinstance(event, Notice)]


def end(events: list) -> TurnEnd:
    assert isinstance(events[-1], TurnEnd)
    return events[-1]


async def test_the_first_pipeline_is_loaded_and_all_are_named(begin):
    thread = await begin({"one": [ScriptedEngine()], "two": []})
    assert thread.status.pipeline == "one"
    assert thread.status.pipelines == ("one", "two")


async def test_another_pipeline_answers_once_it_is_loaded(begin, runs):
    one, two = ScriptedEngine(say("One.")), ScriptedEngine(say("Two."), sees=True)
    thread = await begin({"one": [one], "two": [two]})
    assert said(await collect(ask(thread))) == "One."
    await thread.switch("two")
    await runs(thread, "two")
    assert said(await collect(ask(thread))) == "Two."
    assert thread.status.capabilities == two.capabilities


async def test_the_old_engine_is_closed_before_the_new_one_is_made(begin, runs):
    one = ScriptedEngine()
    closed_when_made = []

    class Second(ScriptedEngine):
        def __init__(self):
            super().__init__()
            closed_when_made.append(one.closed)

    thread = await begin({"one": [one], "two": (Second() for _ in range(1))})
    await thread.switch("two")
    await runs(thread, "two")
    assert closed_when_made == [True]


async def test_progress_is_told_and_the_old_abilities_no_more(begin, until):
    two = Gated(shut=True)
    thread = await begin({"one": [ScriptedEngine()], "two": [two]})
    await thread.switch("two")
    await until(lambda: thread.status.progress == 0.3)
    assert thread.status.state is EngineState.LOADING
    assert thread.status.message == "Changing to two. Loading the weights"
    assert thread.status.capabilities is None
    two.gate.set()


async def test_a_turn_under_way_ends_on_the_old_engine(begin, runs):
    one = ScriptedEngine(say("A long reply.", chunks=20, pause_s=0.02))
    thread = await begin({"one": [one], "two": [ScriptedEngine()]})
    stream = ask(thread)
    events = aiter(stream)
    await anext(events)
    await thread.switch("two")
    rest = [event async for event in events]
    assert end(rest).outcome is Outcome.ANSWERED
    assert one.stopped == []
    await runs(thread, "two")


async def test_a_turn_that_takes_too_long_is_ended_in_plain_words(begin, runs, until):
    one = ScriptedEngine(hang)
    thread = await begin({"one": [one], "two": [ScriptedEngine()]}, let_end_s=0.2)
    stream = ask(thread)
    await until(lambda: one.running == 1)
    await thread.switch("two")
    await until(lambda: "may end first" in thread.status.message)
    ended = end(await collect(stream))
    assert ended.outcome is Outcome.FAILED
    assert ended.message == "The model is being changed to two, so this was ended."
    await runs(thread, "two")


async def test_turns_that_wait_and_come_are_told_and_answered_by_the_new_one(begin, until):
    one, two = ScriptedEngine(hang), Gated(say("Two."), shut=True)
    thread = await begin({"one": [one], "two": [two]}, let_end_s=0.2)
    running = ask(thread)
    await until(lambda: one.running == 1)
    waiting = aiter(ask(thread))
    assert "1 ahead of you" in (await anext(waiting)).text
    await thread.switch("two")
    await until(lambda: thread.status.progress == 0.3)
    coming = aiter(ask(thread))
    change = "The model is being changed to two; this waits for it."
    assert [(await anext(events)).text for events in (waiting, coming)] == [change, change]
    two.gate.set()
    assert end(await collect(running)).outcome is Outcome.FAILED
    for events in (waiting, coming):
        rest = [event async for event in events]
        assert (told(rest), said(rest)) == ([], "Two.")
    assert len(one.runs) == 1


async def test_a_waiting_question_is_answered_in_the_voice_of_the_new_one(begin, until):
    german = VoiceControls(speakers=("Greta",), languages=("de",))
    one, two = ScriptedEngine(hang), ScriptedEngine(say("Two."), voice=german)
    thread = await begin({"one": [one], "two": [two]}, let_end_s=0.1)
    ask(thread)
    await until(lambda: one.running == 1)
    settings = {"voice": VoiceSpec(speaker="tone"), "voice_speed": 1.5, "max_reply_tokens": 40}
    waiting = ask(thread, **settings)
    await thread.switch("two")
    events = await collect(waiting)
    assert said(events) == "Two."
    assert "changed meanwhile" in told(events)[-1]
    assert two.runs[0].settings == TurnSettings(max_reply_tokens=40)


async def test_settings_that_both_know_stay(begin, until):
    one, two = ScriptedEngine(hang), ScriptedEngine(say("Two."))
    thread = await begin({"one": [one], "two": [two]}, let_end_s=0.1)
    ask(thread)
    await until(lambda: one.running == 1)
    waiting = ask(thread, voice=VoiceSpec(speaker="tone"), voice_speed=1.5)
    await thread.switch("two")
    await collect(waiting)
    assert two.runs == [waiting.turn]
    assert two.runs[0].settings.voice == VoiceSpec(speaker="tone")


async def test_a_pipeline_that_cannot_be_loaded_is_told_and_the_old_one_comes_back(begin, runs):
    again = ScriptedEngine(say("One again."))
    broken = Gated(shut=True, load_error="No model at /nowhere.")
    thread = await begin({"one": [ScriptedEngine(), again], "two": [broken]})
    await thread.switch("two")
    waiting = ask(thread)
    broken.gate.set()
    assert said(await collect(waiting)) == "One again."
    await runs(thread, "one")
    assert thread.status.message == "two could not be loaded: No model at /nowhere."
    assert broken.closed


async def test_when_neither_can_be_loaded_both_reasons_are_told(begin, until):
    broken = Gated(shut=True, load_error="No model.")
    ones = [ScriptedEngine(), ScriptedEngine(load_error="No memory."), ScriptedEngine()]
    thread = await begin({"one": ones, "two": [broken]})
    await thread.switch("two")
    waiting = ask(thread)
    broken.gate.set()
    failed = end(await collect(waiting))
    assert failed.outcome is Outcome.FAILED
    assert thread.status.state is EngineState.FAILED
    assert "two could not be loaded: No model." in failed.message
    assert "Nor could one: No memory." in failed.message
    thread.rebuild_if_failed()
    await until(lambda: thread.status.state is EngineState.READY)
    assert thread.status.pipeline == "one"


async def test_an_engine_that_hangs_in_a_turn_and_in_closing_is_left(
    begin, runs, until, monkeypatch
):
    monkeypatch.setattr(turn_runner, "GRACE_S", 0.1)
    monkeypatch.setattr(supervisor, "CLOSE_TIMEOUT_S", 0.2)

    class NeverCloses(ScriptedEngine):
        async def close(self):
            self.closed = True
            await asyncio.sleep(3600)

    one = NeverCloses(ignore_cancel)
    thread = await begin({"one": [one], "two": [ScriptedEngine(say("Two."))]}, let_end_s=0.1)
    stuck = ask(thread)
    await until(lambda: one.running == 1)
    await thread.switch("two")
    assert end(await collect(stuck)).message == (
        "The model is being changed to two. Please try again."
    )
    await runs(thread, "two")
    assert said(await collect(ask(thread))) == "Two."


async def test_a_switch_during_a_load_gives_it_up_and_the_last_one_wins(begin, runs, until):
    two, three = Gated(shut=True), ScriptedEngine(say("Three."))
    thread = await begin({"one": [ScriptedEngine()], "two": [two], "three": [three]})
    await thread.switch("two")
    await until(lambda: thread.status.progress == 0.3)
    waiting = ask(thread)
    await thread.switch("three")
    assert said(await collect(waiting)) == "Three."
    await runs(thread, "three")
    assert two.given_up
    assert two.closed


async def test_a_burst_of_switches_loads_the_last_and_leaves_nothing_open(begin, runs):
    made = []

    def supply(text):
        while True:
            made.append(Gated(say(text)))
            yield made[-1]

    thread = await begin({name: supply(name) for name in ("one", "two", "three")})
    for name in ("two", "three", "one", "two", "one", "three"):
        await thread.switch(name)
    await runs(thread, "three")
    assert said(await collect(ask(thread))) == "three"
    assert [engine for engine in made if not engine.closed] == made[-1:]


async def test_a_load_that_is_slow_to_give_up_is_waited_for(begin, runs, until):
    class Slow(Gated):
        async def load(self, progress):
            try:
                await super().load(progress)
            except asyncio.CancelledError:
                await asyncio.sleep(0.2)
                ended.append("two")
                raise

    class Third(ScriptedEngine):
        async def load(self, progress):
            ended.append("three")

    ended = []
    thread = await begin({"one": [ScriptedEngine()], "two": [Slow(shut=True)], "three": [Third()]})
    await thread.switch("two")
    await until(lambda: thread.status.progress == 0.3)
    await thread.switch("three")
    await runs(thread, "three")
    assert ended == ["two", "three"]


async def test_what_a_load_reports_after_it_was_given_up_is_not_heard(begin, until):
    class Chatty(Gated):
        async def load(self, progress):
            reports.append(progress)
            await super().load(progress)

    reports = []
    two, three = Chatty(shut=True), Gated(shut=True)
    thread = await begin({"one": [ScriptedEngine()], "two": [two], "three": [three]})
    await thread.switch("two")
    await until(lambda: thread.status.progress == 0.3)
    await thread.switch("three")
    await until(lambda: thread.status.message == "Changing to three. Loading the weights")
    reports[0](0.9, "Still here")
    assert thread.status.message == "Changing to three. Loading the weights"
    three.gate.set()


async def test_the_pipeline_that_runs_is_not_loaded_again(begin):
    one = ScriptedEngine()
    thread = await begin({"one": [one], "two": []})
    await thread.switch("one")
    assert thread.status.state is EngineState.READY
    assert not one.closed


async def test_an_engine_that_fails_while_it_is_left_is_not_rebuilt(begin, runs, until):
    async def die_later(engine, turn):
        await asyncio.sleep(0.2)
        engine.healthy = False
        async for event in raise_error(engine, turn):
            yield event

    one, two = ScriptedEngine(die_later), ScriptedEngine(say("Two."))
    thread = await begin({"one": [one], "two": [two]})
    stream = ask(thread)
    await until(lambda: one.running == 1)
    await thread.switch("two")
    assert end(await collect(stream)).outcome is Outcome.FAILED
    await runs(thread, "two")
    assert said(await collect(ask(thread))) == "Two."


async def test_words_that_are_being_heard_are_heard_to_their_end(begin, runs, until):
    class Listens(ScriptedEngine):
        async def hear(self, clip, language):
            self.heard.append(clip)
            await asyncio.sleep(0.2)
            assert not self.closed
            return self.words

    one, two = Listens(), Gated(shut=True)
    thread = await begin({"one": [one], "two": [two]})
    hearing = asyncio.create_task(thread.hear("clip", "auto"))
    await until(lambda: one.heard)
    await thread.switch("two")
    assert await hearing == one.words
    with pytest.raises(EngineFailed):
        await thread.foresee(Turn(session_id="a", generation=1, text="hi"))
    two.gate.set()


async def test_close_during_a_switch_cancels_all_and_closes_both(begin, until):
    one, two = ScriptedEngine(hang), Gated(shut=True)
    thread = await begin({"one": [one], "two": [two]}, let_end_s=0.1)
    running = ask(thread)
    await until(lambda: one.running == 1)
    await thread.switch("two")
    waiting = ask(thread)
    await until(lambda: thread.status.progress == 0.3)
    await asyncio.to_thread(thread.close)
    assert end(await collect(running)).outcome is Outcome.FAILED
    assert end(await collect(waiting)).outcome is Outcome.CANCELLED
    assert (one.closed, two.closed) == (True, True)
    assert not any(t.name == "engine" and t.is_alive() for t in threading.enumerate())
    with pytest.raises(TurnRefused, match="shut down"):
        await thread.switch("one")


async def test_a_name_that_is_not_there_is_refused_with_those_that_are(begin, start):
    thread = await begin({"one": [ScriptedEngine()], "two": []})
    with pytest.raises(TurnRefused, match="one, two"):
        await thread.switch("three")
    with pytest.raises(TurnRefused, match="--pipelines"):
        await start(ScriptedEngine()).switch("one")
