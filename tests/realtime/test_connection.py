"""The wire: a page is greeted, told everything, and can stop, clear and come back."""

from __future__ import annotations

import asyncio
import base64
import json
import urllib.error
import urllib.request

import numpy as np
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from backend.contract.events import Outcome
from backend.conversation.pcm import to_pcm16, to_wav
from backend.conversation.recording import Recording
from backend.conversation.registry import SessionRegistry
from backend.realtime import closing
from backend.realtime import connection as connection_module
from backend.realtime.lobby import ConnectionLimits, Lobby
from backend.runtime.engine_thread import EngineThread
from tests.scripted_engine import (
    RATE,
    ScriptedEngine,
    die,
    echo,
    hang,
    raise_error,
    say,
    stay_silent,
    tone,
)
from tests.serving import serve_routes

ID = "a" * 32


class Client:
    """A page's side of the socket."""

    def __init__(self, socket, registry):
        self.socket = socket
        self.registry = registry

    async def send(self, **message):
        await self.socket.send(json.dumps(message))

    async def receive(self):
        return json.loads(await asyncio.wait_for(self.socket.recv(), 10))

    async def receive_until(self, kind: str) -> list[dict]:
        messages = [await self.receive()]
        while messages[-1]["type"] != kind:
            messages.append(await self.receive())
        return messages

    async def hello(self) -> dict:
        return (await self.receive_until("session.created"))[-1]


def join(app, session_id: str = ID, **options):
    """A page's handshake: the session's id is a subprotocol."""
    wanted = ["realtime", f"omni-session.{session_id}"]
    return connect(f"ws{app.url[4:]}/v1/realtime", subprotocols=wanted, **options)


@pytest.fixture
def engine():
    long = say("A long reply.", chunks=400, chunk_s=0.05, pause_s=0.02)
    scripts = {
        "quiet": stay_silent,
        "bad": raise_error,
        "die": die,
        "hang": hang,
        "long": long,
        "odd": say(chunks=7, chunk_s=0.0123),
    }
    return ScriptedEngine(echo, scripts=scripts)


@pytest.fixture
def app(engine):
    spare = ScriptedEngine(echo)
    supply = iter([engine, spare])
    with serve_routes(EngineThread(lambda: next(supply))) as served:
        yield served


@pytest.fixture
async def client(app):
    async with join(app, max_size=None) as socket:
        yield Client(socket, app.registry)


def ask(app, text: str, session_id: str = ID) -> None:
    app.on_server(lambda: app.registry.get(session_id).ask(text=text))


async def test_a_page_is_greeted_with_its_turns_and_the_engines_state(app, client):
    created = await client.hello()
    assert created["session"]["id"] == ID
    assert created["turns"] == []
    status = await client.receive()
    assert status["type"] == "omni.engine"


async def test_a_turn_arrives_whole_and_in_order(app, client):
    await client.hello()
    ask(app, "a <b> c <|x|> 5 < 6")
    messages = await client.receive_until("response.done")
    kinds = [m["type"] for m in messages if m["type"] != "omni.engine"]
    assert kinds == [
        "omni.turn.created",
        "conversation.item.added",
        "conversation.item.done",
        "response.created",
        "response.output_item.added",
        "conversation.item.added",
        "response.content_part.added",
        "response.output_audio_transcript.delta",
        "response.output_audio.delta",
        "response.output_audio.done",
        "response.output_audio_transcript.done",
        "response.content_part.done",
        "response.output_item.done",
        "conversation.item.done",
        "response.done",
    ]
    by_kind = {m["type"]: m for m in messages}
    assert by_kind["omni.turn.created"]["turn"]["text"] == "a <b> c <|x|> 5 < 6"
    assert by_kind["response.output_audio_transcript.delta"]["delta"] == "a <b> c <|x|> 5 < 6"
    sound = by_kind["response.output_audio.delta"]
    assert base64.b64decode(sound["delta"]) == to_pcm16(tone(0.2))
    assert sound["sample_rate"] == RATE
    assert by_kind["response.done"]["response"]["status"] == "completed"
    assert len({m["event_id"] for m in messages}) == len(messages)


async def test_a_silent_turn_says_listen_and_carries_no_sound(app, client):
    await client.hello()
    ask(app, "quiet")
    messages = await client.receive_until("response.done")
    kinds = [m["type"] for m in messages]
    assert "response.listen" in kinds
    assert "response.output_audio.delta" not in kinds
    assert messages[-1]["outcome"] == "silent"


async def test_a_failed_turn_says_why(app, client):
    await client.hello()
    ask(app, "bad")
    done = (await client.receive_until("response.done"))[-1]
    assert done["response"]["status"] == "failed"
    assert "a stage raised" in done["message"]


async def test_stop_cancels_the_work(app, client, engine, until):
    await client.hello()
    ask(app, "long")
    await client.receive_until("response.output_audio.delta")
    await client.send(type="response.cancel")
    done = (await client.receive_until("response.done"))[-1]
    assert done["outcome"] == "cancelled"
    await until(lambda: engine.running == 0)


async def test_clear_empties_the_conversation(app, client):
    await client.hello()
    ask(app, "one")
    await client.receive_until("response.done")
    await client.send(type="omni.conversation.clear")
    await client.receive_until("omni.conversation.cleared")
    assert app.registry.get(ID).records == []


async def test_a_page_that_comes_back_finds_its_conversation(app, client):
    await client.hello()
    ask(app, "one")
    await client.receive_until("response.done")
    await client.socket.close()
    async with join(app) as socket:
        created = await Client(socket, app.registry).hello()
    (turn,) = created["turns"]
    assert (turn["text"], turn["reply"], turn["outcome"]) == ("one", "one", "answered")
    assert turn["has_sound"]


async def test_leaving_stops_the_work_after_a_moment_of_grace(
    app, client, engine, until, monkeypatch
):
    monkeypatch.setattr(connection_module, "LEAVE_GRACE_S", 0.2)
    await client.hello()
    ask(app, "hang")
    await until(lambda: engine.running == 1)
    (record,) = app.registry.get(ID).records
    await client.socket.close()
    await until(lambda: engine.running == 0 and record.outcome is not None)
    assert record.outcome is Outcome.CANCELLED


async def test_a_reload_within_the_grace_keeps_the_work(app, client, engine, until, monkeypatch):
    monkeypatch.setattr(connection_module, "LEAVE_GRACE_S", 0.3)
    await client.hello()
    ask(app, "hang")
    await until(lambda: engine.running == 1)
    await client.socket.close()
    async with join(app) as socket:
        await Client(socket, app.registry).hello()
        await asyncio.sleep(0.6)
        assert engine.running == 1


async def test_every_page_hears_that_the_engine_is_rebuilt(app, client):
    await client.hello()
    async with join(app, "b" * 32) as socket:
        other = Client(socket, app.registry)
        await other.hello()
        ask(app, "die")
        states = []
        while states[-1:] != ["ready"] or "loading" not in states:
            message = await other.receive()
            if message["type"] == "omni.engine":
                states.append(message["state"])
        ask(app, "again", "b" * 32)
        done = (await other.receive_until("response.done"))[-1]
        assert done["outcome"] == "answered"


@pytest.mark.parametrize("bad", ["no json", "{}", '{"type": "nonsense"}', "[]", "null", "\x00"])
async def test_a_malformed_message_is_answered_and_the_connection_goes_on(app, client, bad):
    await client.hello()
    await client.socket.send(bad)
    error = (await client.receive_until("error"))[-1]
    assert error["error"]["code"] == "bad_message"
    ask(app, "still here")
    assert (await client.receive_until("response.done"))[-1]["outcome"] == "answered"


@pytest.mark.parametrize("session_id", ["etc", "A" * 32, "a" * 31, "a" * 5000])
async def test_an_id_that_no_page_makes_is_refused(app, session_id):
    async with join(app, session_id) as socket:
        client = Client(socket, app.registry)
        assert (await client.receive())["type"] == "error"
        with pytest.raises(ConnectionClosed):
            await client.receive()


async def test_a_client_that_names_no_session_gets_one_of_its_own(app):
    async with connect(f"ws{app.url[4:]}/v1/realtime") as socket:
        client = Client(socket, app.registry)
        session_id = (await client.hello())["session"]["id"]
        await client.send(
            type="conversation.item.create",
            item={
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "hi there"}],
            },
        )
        await client.send(type="response.create")
        done = (await client.receive_until("response.done"))[-1]
    assert done["response"]["status"] == "completed"
    (record,) = app.registry.get(session_id).records
    assert (record.turn.text, record.reply) == ("hi there", "hi there")


async def test_binary_messages_are_answered_and_the_connection_goes_on(app, client):
    await client.hello()
    await client.socket.send(b"\x00\x01")
    assert (await client.receive_until("error"))[-1]["error"]["code"] == "bad_message"
    ask(app, "still here")
    assert (await client.receive_until("response.done"))[-1]["outcome"] == "answered"


async def test_a_page_that_asked_nothing_leaves_nothing_behind(app, client, until, monkeypatch):
    monkeypatch.setattr(connection_module, "LEAVE_GRACE_S", 0.1)
    await client.hello()
    assert len(app.registry) == 1
    await client.socket.close()
    await until(lambda: len(app.registry) == 0)


async def test_a_recording_arrives_while_it_is_spoken(app, client):
    await client.hello()
    pieces = [to_pcm16(piece) for piece in np.array_split(tone(1.0), 9)]
    for piece in pieces:
        audio = base64.b64encode(piece).decode()
        await client.send(type="input_audio_buffer.append", audio=audio, sample_rate=RATE)
    await client.send(type="input_audio_buffer.commit")
    await client.receive_until("input_audio_buffer.committed")
    samples, rate = app.registry.get(ID).recording.take()
    assert (samples.tobytes(), rate) == (b"".join(pieces), RATE)


async def test_a_recording_that_is_too_long_ends_and_says_so(app, client):
    await client.hello()
    app.registry.get(ID).recording = Recording(max_s=0.5)
    audio = base64.b64encode(to_pcm16(tone(0.4))).decode()
    for _ in range(3):
        await client.send(type="input_audio_buffer.append", audio=audio, sample_rate=RATE)
    told = await client.receive_until("omni.recording.full")
    assert "longest" in told[-1]["text"]
    await client.send(type="input_audio_buffer.commit")
    await client.receive_until("input_audio_buffer.committed")
    samples, _ = app.registry.get(ID).recording.take()
    assert len(samples) == RATE // 2


@pytest.mark.parametrize(
    "bad",
    [
        {"audio": "no base64!", "sample_rate": RATE},
        {"audio": "AAAA", "sample_rate": RATE},
        {"audio": "AAA=", "sample_rate": 1},
        {"audio": "A" * 2_000_000, "sample_rate": RATE},
        {"sample_rate": RATE},
    ],
)
async def test_sound_that_is_none_is_refused_and_the_connection_goes_on(app, client, bad):
    await client.hello()
    await client.send(type="input_audio_buffer.append", **bad)
    await client.receive_until("error")
    assert app.registry.get(ID).recording.take() is None


async def test_the_apps_own_page_is_let_in(app):
    async with join(app, origin=app.url) as socket:
        created = await Client(socket, app.registry).hello()
    assert created["turns"] == []


@pytest.mark.parametrize("origin", ["https://elsewhere.test", "http://127.0.0.1:1", "null"])
async def test_a_page_of_another_site_is_refused(app, origin):
    with pytest.raises(InvalidStatus, match="403"):
        await join(app, origin=origin)


class DeafPage:
    """A socket whose other end reads nothing."""

    def __init__(self) -> None:
        self.scope = {"subprotocols": ["realtime", f"omni-session.{ID}"]}
        self.closed_with = None

    async def accept(self, subprotocol: str) -> None:
        assert subprotocol == "realtime"

    async def receive_text(self) -> str:
        return await asyncio.Future()

    async def send_text(self, text: str) -> None:
        await asyncio.Future()

    async def close(self, code: int) -> None:
        self.closed_with = code


async def test_a_page_that_reads_nothing_is_cut_off(start, until, monkeypatch):
    monkeypatch.setattr(connection_module, "MAX_UNSENT", 3)
    thread = start(ScriptedEngine(say(chunks=20, chunk_s=0.01)))
    registry = SessionRegistry(thread.submit)
    page = DeafPage()
    lobby = Lobby(registry, ConnectionLimits())
    serving = asyncio.create_task(connection_module.Connection(page, lobby, thread).serve())
    session = registry.get(ID)
    await until(lambda: session.listeners)
    record = session.ask(text="hi")
    await asyncio.wait_for(serving, 10)
    assert page.closed_with == closing.TOO_SLOW
    assert not session.listeners
    await session.settled()
    assert record.outcome == "answered"


async def fetch(url: str) -> tuple[int, bytes]:
    def get():
        try:
            with urllib.request.urlopen(url) as response:  # noqa: S310 - our own server
                return response.status, response.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    return await asyncio.to_thread(get)


async def test_a_reply_can_be_fetched_as_a_wav_of_the_same_samples(app, client):
    await client.hello()
    ask(app, "one")
    turn_id = (await client.receive_until("response.done"))[-1]["response_id"]
    status, wav = await fetch(f"{app.url}/replies/{turn_id}.wav")
    assert status == 200
    assert wav == to_wav(to_pcm16(tone(0.2)), RATE)


async def test_the_pieces_on_the_wire_joined_are_the_finished_wav(app, client):
    await client.hello()
    ask(app, "odd")
    messages = await client.receive_until("response.done")
    pieces = [m["delta"] for m in messages if m["type"] == "response.output_audio.delta"]
    assert len(pieces) == 7
    _, wav = await fetch(f"{app.url}/replies/{messages[-1]['response_id']}.wav")
    assert wav == to_wav(b"".join(map(base64.b64decode, pieces)), RATE)


async def test_the_sound_of_no_turn_is_not_found(app, client):
    await client.hello()
    ask(app, "quiet")
    silent_id = (await client.receive_until("response.done"))[-1]["response_id"]
    for turn_id in (silent_id, "0" * 32, "..", "x"):
        status, _ = await fetch(f"{app.url}/replies/{turn_id}.wav")
        assert status == 404


async def test_health_tells_whether_the_engine_serves(app, client):
    await client.hello()
    ask(app, "one")
    await client.receive_until("response.done")
    status, body = await fetch(f"{app.url}/health")
    assert status == 200
    assert json.loads(body)["state"] == "ready"
