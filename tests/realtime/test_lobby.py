"""Who may be connected, for how long nothing may happen, and how long a lost page is waited for."""

from __future__ import annotations

import asyncio
import json

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from backend.contract.events import Outcome
from backend.conversation.registry import SessionRegistry
from backend.realtime import closing
from backend.realtime import connection as connection_module
from backend.realtime.lobby import ConnectionLimits, Lobby
from backend.runtime.engine_thread import EngineThread
from tests.realtime.sounds import RATE, pause
from tests.realtime.test_call import Caller
from tests.scripted_engine import ScriptedEngine, echo, hang, say
from tests.serving import serve_routes

ONE, TWO, THREE = "a" * 32, "b" * 32, "c" * 32

LIMITS = ConnectionLimits(idle_s=0.6, in_all=3, per_session=2)


@pytest.fixture
def engine():
    slow = say("It takes its time.", chunks=15, chunk_s=0.1, pause_s=0.1)
    return ScriptedEngine(echo, scripts={"hang": hang, "slow": slow})


@pytest.fixture
def app(engine):
    with serve_routes(EngineThread(lambda: engine), LIMITS) as served:
        yield served


@pytest.fixture
def patient_app(engine):
    with serve_routes(EngineThread(lambda: engine)) as served:
        yield served


def join(app, session_id: str = ONE):
    return connect(f"ws{app.url[4:]}/v1/realtime", subprotocols=[f"omni-session.{session_id}"])


async def hello(socket) -> dict:
    return (await Caller(socket).until("session.created"))[-1]


async def refusal(app, session_id: str) -> tuple[str, int]:
    """The code in the message, and that of the close, of a connection that is not let in."""
    async with join(app, session_id) as socket:
        error = (await Caller(socket).until("error"))[-1]["error"]
        assert error["message"].endswith(".")
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
    return error["code"], closed.value.rcvd.code


async def test_more_connections_than_are_bearable_are_refused_in_plain_words(app):
    async with join(app, ONE) as first, join(app, TWO) as second, join(app, TWO) as third:
        for socket in (first, second, third):
            await hello(socket)
        assert await refusal(app, THREE) == ("full", closing.FULL)


async def test_a_conversation_is_open_in_so_many_places_and_no_more(app, until):
    async with join(app, ONE) as first:
        await hello(first)
        async with join(app, ONE) as second:
            await hello(second)
            assert await refusal(app, ONE) == ("too_many_connections", closing.FULL)
    async with join(app, ONE) as again:
        assert await hello(again)


async def test_a_connection_on_which_nothing_happens_is_closed_and_says_why(app):
    async with join(app) as socket:
        told = await Caller(socket).until("error")
        assert told[-1]["error"]["code"] == "session_idle"
        assert "Nothing has happened" in told[-1]["error"]["message"]
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
        assert closed.value.rcvd.code == closing.IDLE


async def test_a_call_in_which_nobody_speaks_is_not_idle(app):
    async with join(app) as socket:
        caller = Caller(socket)
        await caller.begin()
        for _ in range(15):
            await caller.speak(pause(0.1))
            await asyncio.sleep(0.1)
        await caller.send(type="input_audio_buffer.clear")
        told = await caller.until("input_audio_buffer.cleared")
        assert "error" not in [message["type"] for message in told]


async def test_a_call_that_is_muted_is_idle(app):
    async with join(app) as socket:
        caller = Caller(socket)
        await caller.begin()
        await caller.speak(pause(0.2))
        assert (await caller.until("error"))[-1]["error"]["code"] == "session_idle"


async def test_a_reply_that_takes_long_is_not_cut_off(app):
    async with join(app) as socket:
        await hello(socket)
        app.on_server(lambda: app.registry.get(ONE).ask(text="slow"))
        told = await Caller(socket).until("response.done")
        assert told[-1]["outcome"] == "answered"


async def drop(socket) -> None:
    """What a lost network does: not a word of goodbye."""
    socket.transport.abort()
    await socket.wait_closed()


async def test_a_page_that_said_goodbye_is_waited_for_only_briefly(
    patient_app, engine, until, monkeypatch
):
    monkeypatch.setattr(connection_module, "LEAVE_GRACE_S", 0.1)
    async with join(patient_app) as socket:
        await hello(socket)
        patient_app.on_server(lambda: patient_app.registry.get(ONE).ask(text="hang"))
        await until(lambda: engine.running == 1)
        (record,) = patient_app.registry.get(ONE).records
        await socket.close(1001)
    await until(lambda: engine.running == 0 and record.outcome is not None)
    assert record.outcome is Outcome.CANCELLED


async def test_the_turn_of_a_page_that_lost_its_connection_goes_on(
    patient_app, engine, until, monkeypatch
):
    assert connection_module.LOSS_GRACE_S == 30
    monkeypatch.setattr(connection_module, "LEAVE_GRACE_S", 0.1)
    monkeypatch.setattr(connection_module, "LOSS_GRACE_S", 2.0)
    async with join(patient_app) as socket:
        await hello(socket)
        patient_app.on_server(lambda: patient_app.registry.get(ONE).ask(text="slow"))
        await Caller(socket).until("response.output_audio.delta")
        await drop(socket)
    await asyncio.sleep(0.5)
    async with join(patient_app) as socket:
        (turn,) = (await hello(socket))["turns"]
        assert turn["outcome"] is None
        told = await Caller(socket).until("response.done")
        assert told[-1]["outcome"] == "answered"
    assert engine.stopped == []


async def test_a_page_that_does_not_come_back_frees_the_engine(
    patient_app, engine, until, monkeypatch
):
    monkeypatch.setattr(connection_module, "LOSS_GRACE_S", 0.3)
    async with join(patient_app) as socket:
        await hello(socket)
        patient_app.on_server(lambda: patient_app.registry.get(ONE).ask(text="hang"))
        await until(lambda: engine.running == 1)
        (record,) = patient_app.registry.get(ONE).records
        await drop(socket)
    await until(lambda: engine.running == 0 and record.outcome is not None)
    assert record.outcome is Outcome.CANCELLED


async def test_every_loss_is_waited_for_anew(start, until):
    thread = start(ScriptedEngine(hang))
    lobby = Lobby(SessionRegistry(thread.submit), ConnectionLimits())
    session = lobby.enter(ONE)
    record = session.ask(text="hello")
    lobby.leave(session, 0.4)
    await asyncio.sleep(0.3)
    assert lobby.enter(ONE) is session
    lobby.leave(session, 0.4)
    await asyncio.sleep(0.3)  # the first wait would be over
    assert record.outcome is None
    await until(lambda: record.outcome is Outcome.CANCELLED)


async def test_the_sound_of_a_call_is_heard_again_after_a_loss(patient_app, engine):
    async with join(patient_app) as socket:
        await Caller(socket).begin()
        await drop(socket)
    async with join(patient_app) as socket:
        caller = Caller(socket)
        await caller.begin()
        await caller.speak(pause(0.1), rate=RATE)
        await socket.send(json.dumps({"type": "input_audio_buffer.clear"}))
        told = await caller.until("input_audio_buffer.cleared")
        assert "error" not in [message["type"] for message in told]
