"""The engine's life: it waits for its server, knows whether it is well, and says what is wrong."""

from __future__ import annotations

import asyncio

import pytest

from backend.contract.engine import EngineState
from backend.contract.errors import EngineFailed
from backend.contract.events import Outcome
from backend.contract.turn import Turn
from backend.engines.failures import StageFailed
from backend.engines.remote import places
from backend.engines.remote.engine import RemoteEngine
from backend.engines.remote.server import Server, ServerRefused
from tests.engines.remote.duplex_server import DuplexServer, hangs_up


def told_to(words: list[str]):
    return lambda share, text: words.append(text)


async def test_it_waits_for_a_server_that_is_not_there_yet(until):
    server, words = DuplexServer(), []
    engine = RemoteEngine(Server(server.url))
    loading = asyncio.create_task(engine.load(told_to(words)))
    await until(lambda: bool(words))
    assert words[0].startswith(f"Waiting for the server at {server.url}")
    async with server.running():
        await loading
    assert words[-1] == "Ready"
    assert "aura-tiny" in engine.capabilities.summary
    assert server.taken == 0


async def test_loading_can_be_broken_off(until):
    words = []
    engine = RemoteEngine(Server(DuplexServer().url))
    loading = asyncio.create_task(engine.load(told_to(words)))
    await until(lambda: bool(words))
    loading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await loading


async def test_a_server_whose_sessions_are_all_taken_is_up(engine, server, monkeypatch):
    monkeypatch.setattr(places, "BUSY_S", 0)
    server.places = 0
    words: list[str] = []
    await engine.load(told_to(words))
    assert words[-1] == "Ready"


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ({"health": 404}, "There is no vLLM-Omni server at .* HTTP 404"),
        ({"key": "secret"}, "asks for a key"),
        ({"at_the_door": {"type": "error", "code": "unsupported", "error": "no"}}, "duplex"),
    ],
)
async def test_what_is_no_server_for_this_is_refused(engine, server, about, words):
    for name, value in about.items():
        setattr(server, name, value)
    with pytest.raises(ServerRefused, match=words):
        await engine.load(told_to([]))


@pytest.mark.parametrize(
    ("url", "web", "socket"),
    [
        ("http://host:8091", "http://host:8091", "ws://host:8091"),
        ("http://host:8091/", "http://host:8091", "ws://host:8091"),
        ("wss://host/aura/v1/realtime", "https://host/aura", "wss://host/aura"),
        ("https://host/v1/", "https://host", "wss://host"),
        ("ws://[::1]:1", "http://[::1]:1", "ws://[::1]:1"),
    ],
)
def test_addresses(url, web, socket):
    server = Server(url)
    assert (server.web, server.socket) == (web, f"{socket}/v1/realtime?duplex=1")


@pytest.mark.parametrize("url", ["", "host:8091", "ftp://host", "http://"])
async def test_what_is_no_address_is_refused_at_once(url):
    with pytest.raises(ServerRefused, match="looks like http://host:8091"):
        await RemoteEngine(Server(url)).load(told_to([]))


async def test_health_is_what_the_server_says(engine, server):
    await engine.health()
    server.health = 503
    with pytest.raises(EngineFailed, match="its model is not running"):
        await engine.health()


async def test_a_server_that_is_gone_is_told_of(engine, ask):
    gone = DuplexServer()
    engine._server = Server(gone.url)
    with pytest.raises(StageFailed, match=f"The server at {gone.url} does not answer"):
        await ask(text="Hi")
    with pytest.raises(EngineFailed, match="does not answer"):
        await engine.health()


async def test_it_hears_nothing_outside_a_turn_and_says_so(engine, clip):
    assert await engine.hear(clip, "auto") == ""
    assert not engine.capabilities.hears_ahead


async def test_a_broken_turn_fails_alone_in_the_app(server, engine, start, until):
    server.places = 2
    thread = start(engine)
    await until(lambda: thread.status.state is EngineState.READY)
    server.script, good = hangs_up, server.script

    async def end_of(text: str):
        return [event async for event in thread.submit(Turn("session", 0, text=text))][-1]

    broken = await end_of("Hi")
    assert broken.outcome is Outcome.FAILED
    assert "The connection to the server was lost" in broken.message
    assert thread.status.state is EngineState.READY
    server.script = good
    assert (await end_of("Hi")).outcome is Outcome.ANSWERED
