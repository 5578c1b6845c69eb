"""Watching: the assistant looks by itself when the scene changes, and mostly stays silent."""

from __future__ import annotations

import asyncio
import base64
import io

import numpy as np
import pytest
from PIL import Image
from websockets.asyncio.client import connect

from backend.media.snapshots import brightness
from backend.realtime import watch
from backend.runtime.engine_thread import EngineThread
from tests.realtime.test_call import ID, Caller
from tests.scripted_engine import ScriptedEngine, die, say, stay_silent
from tests.serving import serve_routes


def jpeg(colour: str, square: str | None = None) -> str:
    image = Image.new("RGB", (64, 48), colour)
    if square:
        image.paste(square, (10, 10, 40, 40))
    file = io.BytesIO()
    image.save(file, "JPEG")
    return base64.b64encode(file.getvalue()).decode()


@pytest.fixture
def engine():
    return ScriptedEngine(script=stay_silent, sees=True)


@pytest.fixture
async def caller(engine, monkeypatch):
    monkeypatch.setattr(watch, "LOOK_EVERY_S", 0.05)
    monkeypatch.setattr(watch, "REST_S", 0.2)
    wanted = ["realtime", f"omni-session.{ID}"]
    with serve_routes(EngineThread(lambda: engine)) as served:
        async with connect(f"ws{served.url[4:]}/v1/realtime", subprotocols=wanted) as socket:
            caller = Caller(socket)
            while (await caller.until("omni.engine"))[-1]["state"] != "ready":
                pass
            yield caller


async def begin_to_watch(caller: Caller) -> None:
    await caller.send(type="session.update", session={"omni": {"watch": True}})
    await caller.until("session.updated")


async def show(caller: Caller, picture: str) -> None:
    """As a page does it: with a little sound of a quiet room."""
    quiet = base64.b64encode(bytes(480)).decode()
    await caller.send(type="input_audio_buffer.append", audio=quiet, video_frames=[picture])
    await caller.send(type="input_audio_buffer.clear")
    await asyncio.sleep(0.15)


async def test_a_change_is_looked_at_and_a_silent_decision_leaves_no_trace(caller, engine):
    await begin_to_watch(caller)
    await show(caller, jpeg("black"))
    await show(caller, jpeg("black", "white"))
    told = await caller.until("response.done")
    (turn,) = [message["turn"] for message in told if message["type"] == "omni.turn.created"]
    assert turn["unasked"]
    assert "response.listen" in [message["type"] for message in told]
    (asked,) = engine.runs
    assert asked.frames is not None
    assert watch.RULE in asked.settings.system_prompt


async def test_a_scene_that_stays_is_not_looked_at_again(caller, engine):
    await begin_to_watch(caller)
    for _ in range(8):
        await show(caller, jpeg("black", "gray"))
    assert engine.runs == []


async def test_the_assistant_may_speak_up_and_remembers_that_it_did(caller, engine):
    engine.script = say("Somebody is at the door.")
    await begin_to_watch(caller)
    await show(caller, jpeg("black"))
    await show(caller, jpeg("black", "white"))
    await caller.until("response.done")
    item = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "Who?"}],
    }
    await caller.send(type="conversation.item.create", item=item)
    await caller.send(type="response.create")
    await caller.until("response.done")
    (exchange,) = engine.runs[-1].history
    assert exchange.assistant == "Somebody is at the door."


async def test_with_watch_off_nothing_is_looked_at(caller, engine):
    await begin_to_watch(caller)
    await caller.send(type="session.update", session={"omni": {"watch": False}})
    await show(caller, jpeg("black"))
    await show(caller, jpeg("black", "white"))
    await asyncio.sleep(0.3)
    assert engine.runs == []


async def test_an_engine_that_comes_later_and_does_not_see_looks_at_nothing(caller, engine):
    await begin_to_watch(caller)
    engine.sees, engine.script = False, die
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi."}]}
    await caller.send(type="conversation.item.create", item=item)
    await caller.send(type="response.create")
    while (await caller.until("omni.engine"))[-1]["state"] != "ready":
        pass
    await show(caller, jpeg("black"))
    await show(caller, jpeg("black", "white"))
    await asyncio.sleep(0.5)
    assert [turn.text for turn in engine.runs] == ["Hi."]


@pytest.mark.parametrize("engine", [ScriptedEngine()], ids=["sees nothing"])
async def test_an_engine_that_does_not_see_refuses_to_watch(caller, engine):
    await caller.send(type="session.update", session={"omni": {"watch": True}})
    error = (await caller.until("error"))[-1]["error"]
    assert "cannot watch" in error["message"]


def test_noise_and_light_are_no_change_and_a_hand_is_one():
    rng = np.random.default_rng(0)
    room = rng.integers(60, 180, (48, 64, 3)).astype(np.float32)
    noisy = np.clip(room + rng.normal(0, 8, room.shape) + 4, 0, 255)
    hand = room.copy()
    hand[10:40, 20:50] = 230

    def change(scene: np.ndarray) -> float:
        before, after = brightness(room.astype(np.uint8)), brightness(scene.astype(np.uint8))
        return float(np.abs(after - before).mean())

    assert change(noisy) < watch.CHANGED / 2 < watch.CHANGED < change(hand)
