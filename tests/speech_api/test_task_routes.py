"""Tasks over HTTP: what there is, what is refused, and what comes while one is done."""

from __future__ import annotations

import asyncio
import base64
import io
import json
from contextlib import asynccontextmanager

import httpx
import numpy as np
import pytest
import soundfile
from fastapi import FastAPI

from backend.contract.events import (
    Captions,
    Cue,
    Notice,
    Reasoning,
    ReplyText,
    SpeechChunk,
    Stage,
    StageProgress,
    StageStarted,
    TaskSent,
    Transcript,
)
from backend.contract.tasks import TASKS
from backend.runtime.engine_thread import EngineThread
from backend.settings import Settings
from backend.speech_api.errors import answer_errors
from backend.speech_api.task_routes import make_task_router
from backend.voices.library import VoiceLibrary
from tests.scripted_engine import RATE, ScriptedEngine, tone
from tests.serving import run_app

PAGE = {"X-Omni-Owner": "a" * 32}
SPEAK = {"task": "tts_sft", "text": "One two."}


async def everything(engine, turn):
    """Each kind of event that a task has, once."""
    yield StageStarted(turn_id=turn.id, stage=Stage.THINK)
    yield StageProgress(turn_id=turn.id, stage=Stage.THINK, share=0.5)
    yield TaskSent(
        turn_id=turn.id,
        prompt="read: One two.",
        clips_s=(1.5,),
        sampling={"temperature": 0.0},
        tokens=7,
        limit=8192,
        left_out=1,
    )
    yield Transcript(turn_id=turn.id, text="heard", final=True)
    yield Reasoning(turn_id=turn.id, delta="Let me see.")
    yield ReplyText(turn_id=turn.id, delta="One two.")
    yield Notice(turn_id=turn.id, code="left_out", text="One turn is not in it.")
    for piece in np.array_split(tone(0.6), 3):
        yield SpeechChunk(turn_id=turn.id, pcm=piece, sample_rate=RATE)
    yield Captions(turn_id=turn.id, cues=(Cue(0.0, 0.5, "One two."),))


@pytest.fixture
def engine():
    return ScriptedEngine(everything, tasks=tuple(TASKS))


@pytest.fixture
def library(tmp_path):
    return VoiceLibrary(tmp_path / "voices")


@pytest.fixture
def options():
    return {"max_waiting": 2}


@pytest.fixture
def url(engine, library, options, tmp_path):
    thread = EngineThread(lambda: engine, **options)

    @asynccontextmanager
    async def run_engine(_app):
        thread.start()
        yield
        thread.close()
        library.close()

    app = FastAPI(lifespan=run_engine)
    app.include_router(make_task_router(thread, library, Settings(_env_file=None)))
    answer_errors(app)
    with run_app(app) as address:
        yield address


@pytest.fixture
async def http(url):
    async with httpx.AsyncClient(base_url=url, timeout=30, headers=PAGE) as client:
        while not (await client.get("/v1/tasks")).json()["engine"]:  # noqa: ASYNC110 - over the wire
            await asyncio.sleep(0.02)
        yield client


async def done(http, **asked):
    """All events of a task."""
    async with http.stream("POST", "/v1/tasks", json=asked) as answer:
        assert answer.status_code == 200, await answer.aread()
        return [json.loads(line[6:]) async for line in answer.aiter_lines() if line]


def sound_of(events):
    """What is heard of the reply, as int16."""
    heard = [base64.b64decode(event["pcm"]) for event in events if event["type"] == "audio"]
    return np.frombuffer(b"".join(heard), "<i2")


async def test_each_event_is_told_as_it_happens(http):
    events = await done(http, **SPEAK)
    assert [event["type"] for event in events] == (
        "started progress sent transcript reasoning text notice audio audio audio captions end"
    ).split()
    told = {event["type"]: event for event in events}
    assert told["started"]["stage"] == "think"
    assert told["progress"]["share"] == 0.5
    assert told["sent"] == {
        "type": "sent",
        "prompt": "read: One two.",
        "clips_s": [1.5],
        "sampling": {"temperature": 0.0},
        "tokens": 7,
        "limit": 8192,
        "left_out": 1,
    }
    assert told["transcript"] == {"type": "transcript", "text": "heard", "final": True}
    assert told["reasoning"]["delta"] == "Let me see."
    assert told["text"]["delta"] == "One two."
    assert (told["notice"]["code"], told["notice"]["text"]) == (
        "left_out",
        "One turn is not in it.",
    )
    assert told["captions"]["cues"] == [{"start_s": 0.0, "end_s": 0.5, "text": "One two."}]
    assert (told["end"]["outcome"], told["end"]["refusal"]) == ("answered", "")
    assert told["end"]["metrics"].keys() >= {"first_text_s", "first_sound_s", "total_s"}


async def test_the_sound_of_a_reply_is_kept_and_says_that_nobody_spoke(http):
    events = await done(http, **SPEAK)
    assert np.allclose(sound_of(events) / 32767, tone(0.6), atol=1e-4)
    file = await http.get(f"/v1/tasks/clips/{events[-1]['clip']}")
    assert b"Synthetic speech" in file.content
    kept, rate = soundfile.read(io.BytesIO(file.content))
    assert (rate, len(kept)) == (RATE, len(sound_of(events)))
