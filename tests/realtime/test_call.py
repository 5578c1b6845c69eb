"""A call over the wire: real sound and the real speech detector, a scripted engine."""

from __future__ import annotations

import asyncio
import base64
import io
import json

import numpy as np
import pytest
import soxr
from PIL import Image
from websockets.asyncio.client import connect

from backend.contract.errors import EngineFailed
from backend.contract.events import SpeechChunk
from backend.conversation.pcm import to_pcm16
from backend.runtime.engine_thread import EngineThread
from tests.realtime.sounds import RATE, keyboard, pause, speech
from tests.scripted_engine import ScriptedEngine, say
from tests.serving import serve_routes

ID = "c" * 32


class Caller:
    """A client in a call: speaks, and collects what it is told."""

    def __init__(self, socket):
        self.socket = socket

    async def send(self, **message):
        await self.socket.send(json.dumps(message))

    async def until(self, kind: str) -> list[dict]:
        told = []
        while not told or told[-1]["type"] != kind:
            told.append(json.loads(await asyncio.wait_for(self.socket.recv(), 15)))
        return told

    async def begin(self) -> None:
        detection = {"type": "server_vad"}
        await self.send(type="session.update", session={"turn_detection": detection})
        told = (await self.until("session.updated"))[-1]
        assert told["session"]["turn_detection"] == detection

    async def speak(self, *sounds: np.ndarray, rate: int = RATE, frames=()) -> None:
        sound = np.concatenate(sounds)
        sound = sound if rate == RATE else soxr.resample(sound, RATE, rate)
        for start in range(0, len(sound), rate // 10):
            audio = base64.b64encode(to_pcm16(sound[start : start + rate // 10])).decode()
            extra = {"video_frames": list(frames)} if frames and not start else {}
            await self.send(
                type="input_audio_buffer.append", audio=audio, sample_rate=rate, **extra
            )


@pytest.fixture
def engine():
    return ScriptedEngine(say("One two three four five six.", chunks=4), words="How are you?")


@pytest.fixture
def app(engine):
    with serve_routes(EngineThread(lambda: engine)) as served:
        yield served


@pytest.fixture
async def caller(app):
    wanted = ["realtime", f"omni-session.{ID}"]
    async with connect(
        f"ws{app.url[4:]}/v1/realtime", subprotocols=wanted, max_size=None
    ) as socket:
        caller = Caller(socket)
        while (await caller.until("omni.engine"))[-1]["state"] != "ready":
            pass
        await caller.begin()
        yield caller


@pytest.mark.parametrize("rate", [16_000, 24_000, 48_000])
async def test_a_spoken_question_is_answered(caller, engine, rate):
    await caller.speak(pause(0.4), speech(), pause(2), rate=rate)
    told = await caller.until("response.done")
    kinds = [message["type"] for message in told]
    order = [
        "omni.speech.maybe",
        "input_audio_buffer.speech_started",
        "input_audio_buffer.speech_stopped",
        "input_audio_buffer.committed",
        "omni.turn.created",
        "response.output_audio.delta",
    ]
    places = [kinds.index(kind) for kind in order]
    assert places == sorted(places)
    assert "omni.hearing" in kinds
    assert told[-1]["outcome"] == "answered"
    (turn,) = engine.runs
    assert turn.heard == "How are you?"
    assert turn.audio.duration_s == pytest.approx(len(speech()) / RATE + 0.5, abs=0.8)


async def test_the_engine_reads_ahead_from_the_first_sound_on(caller, engine):
    said = speech()
    engine.words = "How are"
    await caller.speak(pause(0.4), said[: RATE // 2])
    await caller.until("input_audio_buffer.speech_started")
    await caller.speak(said[RATE // 2 :], pause(0.4))
    await caller.until("omni.hearing")
    await caller.speak(pause(2))
    await caller.until("response.done")
    assert [turn.heard for turn in engine.foreseen][:2] == ["", "How are"]


async def test_words_are_heard_while_the_person_still_speaks(caller):
    await caller.speak(speech())
    told = await caller.until("omni.hearing")
    assert told[-1]["transcript"] == "How are you?"
    assert "input_audio_buffer.speech_stopped" not in [message["type"] for message in told]


async def test_noise_makes_no_turn(caller, engine):
    await caller.speak(keyboard(10), pause(1))
    await caller.speak(speech(), pause(2))
    await caller.until("response.done")
    assert len(engine.runs) == 1


async def test_speech_without_words_is_dropped(caller, engine):
    engine.words = " ... "
    await caller.speak(speech(), pause(2))
    told = (await caller.until("omni.utterance.dropped"))[-1]
    assert told["reason"] == "No words were heard."
    assert engine.runs == []


async def test_a_recogniser_that_fails_leaves_it_to_the_turn(caller, engine, monkeypatch):
    async def fail(clip, language):
        raise EngineFailed("no ears")

    monkeypatch.setattr(engine, "hear", fail)
    await caller.speak(speech(), pause(3))
    await caller.until("response.done")
    (turn,) = engine.runs
    assert turn.heard == ""
    assert turn.audio is not None


async def test_a_word_stops_the_reply_and_the_work_on_it(caller, app, engine, until):
    engine.script = say("A long reply.", chunks=400, chunk_s=0.05, pause_s=0.02)
    await caller.speak(speech(), pause(2))
    await caller.until("response.output_audio.delta")
    await caller.speak(speech()[:RATE])
    told = await caller.until("response.done")
    kinds = [message["type"] for message in told]
    assert kinds.index("input_audio_buffer.speech_started") < kinds.index("response.done")
    assert told[-1]["outcome"] == "cancelled"
    await until(lambda: engine.running == 0)


async def test_history_keeps_what_was_heard(caller, app, engine):
    await caller.speak(speech(), pause(2))
    turn_id = (await caller.until("response.done"))[-1]["response_id"]
    await caller.send(
        type="conversation.item.truncate", item_id=turn_id, content_index=0, audio_end_ms=400
    )
    told = (await caller.until("conversation.item.truncated"))[-1]
    assert told["reply"] == "One two three …"
    await caller.speak(speech(), pause(2))
    await caller.until("response.done")
    assert engine.runs[-1].history[-1].assistant == "One two three …"


async def test_its_own_voice_is_not_answered(caller, app, engine):
    def speak_the_question(reply: np.ndarray):
        async def script(_engine, turn):
            async for event in say("Hello.", chunks=0)(_engine, turn):
                yield event
            yield SpeechChunk(turn_id=turn.id, pcm=reply, sample_rate=RATE)

        return script

    engine.script = speak_the_question(speech())
    await caller.speak(speech(), pause(2))
    turn_id = (await caller.until("response.done"))[-1]["response_id"]
    echo = np.concatenate((pause(0.1), 0.3 * speech())).astype(np.float32)
    for start in range(0, len(echo), RATE // 4):
        played = 1000 * start // RATE
        await caller.send(type="omni.playback", response_id=turn_id, playing=True, played_ms=played)
        await caller.speak(echo[start : start + RATE // 4])
        await asyncio.sleep(0.05)
    await caller.speak(pause(2))
    await asyncio.sleep(0.5)
    assert len(engine.runs) == 1


async def test_what_the_camera_saw_comes_with_the_question(caller, engine):
    file = io.BytesIO()
    Image.new("RGB", (64, 48), "red").save(file, "JPEG")
    frame = base64.b64encode(file.getvalue()).decode()
    await caller.speak(speech(), pause(2), frames=[frame, "AAAA"])
    await caller.until("response.done")
    (turn,) = engine.runs
    assert turn.frames.images.shape == (1, 48, 64, 3)
    assert engine.foreseen[-1].frames.images.shape == (1, 48, 64, 3)


async def test_ending_the_call_ends_the_listening(caller, engine):
    await caller.send(type="session.update", session={"turn_detection": None})
    assert (await caller.until("session.updated"))[-1]["session"]["turn_detection"] is None
    await caller.speak(speech(), pause(2))
    await caller.send(type="input_audio_buffer.commit")
    told = await caller.until("input_audio_buffer.committed")
    assert "input_audio_buffer.speech_started" not in [message["type"] for message in told]
    await caller.send(type="response.create")
    await caller.until("response.done")
    assert len(engine.runs) == 1


async def test_nothing_recorded_is_nothing_to_answer(caller, engine):
    await caller.send(type="session.update", session={"turn_detection": None})
    await caller.send(type="response.create")
    told = await caller.until("omni.utterance.dropped")
    assert "first" in told[-1]["reason"]


async def test_instructions_hold_for_the_call(caller, engine):
    await caller.send(type="session.update", session={"instructions": "Be brief."})
    await caller.speak(speech(), pause(2))
    await caller.until("response.done")
    assert engine.runs[0].settings.system_prompt == "Be brief."
