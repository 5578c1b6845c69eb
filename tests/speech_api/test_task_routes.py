"""Tasks over HTTP: what there is, what is refused, and what comes while one is done."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import io
import json
import tempfile
import threading
from contextlib import asynccontextmanager, contextmanager
from functools import partial

import httpx
import numpy as np
import pytest
import soundfile
from fastapi import FastAPI

from backend.contract.errors import Field, TurnRefused
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
from backend.contract.media import AudioClip
from backend.contract.tasks import MAX_REPLY_TOKENS, PHRASES, TASKS
from backend.contract.voice import VoiceMode
from backend.runtime.engine_thread import EngineThread
from backend.settings import Settings
from backend.speech_api import task_routes
from backend.speech_api.errors import answer_errors
from backend.speech_api.guards import EVERYBODY
from backend.speech_api.task_routes import make_task_router
from backend.tasks.recording import Recording
from backend.tasks.shelf import ShelfLimits
from backend.voices.library import VoiceLibrary
from backend.voices.voice import VoiceDraft
from tests.scripted_engine import RATE, ScriptedEngine, hang, stay_silent, tone
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
def thread(engine):
    other = ScriptedEngine(everything)
    return EngineThread({"first": lambda: engine, "other": lambda: other}, max_waiting=2)


@contextmanager
def served(thread, library):
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
def url(thread, library):
    with served(thread, library) as address:
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


async def refused(http, status, code, param, **asked):
    """The message of a refusal, which comes before any event."""
    answer = await http.post("/v1/tasks", json=asked)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (status, code, param)
    return error["message"]


async def send(http, sound, rate=RATE, **headers):
    """Put a sound on the shelf."""
    file = io.BytesIO()
    soundfile.write(file, sound, rate, format="WAV", subtype="PCM_16")
    answer = await http.post("/v1/tasks/clips", files={"file": file.getvalue()}, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()["id"]


async def test_all_ten_are_listed_with_what_they_need(http):
    told = (await http.get("/v1/tasks")).json()
    assert told["engine"] == "scripted"
    assert [task["name"] for task in told["tasks"]] == list(TASKS)
    assert all(task["available"] and not task["why"] for task in told["tasks"])
    by_name = {task["name"]: task for task in told["tasks"]}
    assert by_name["tts_sft_with_instruct"] == {
        "name": "tts_sft_with_instruct",
        "required": ["text", "instruct"],
        "optional": ["voice"],
        "speaks": True,
        "reasons": True,
        "variants": {},
        "available": True,
        "why": "",
    }
    assert by_name["text_dialogue_sft_multiturn"]["variants"] == {
        "thinking": {"speaks": False, "reasons": True}
    }


@pytest.mark.parametrize("engine", [ScriptedEngine(tasks=("tts_sft",))])
async def test_what_the_engine_cannot_do_is_told_with_the_reason(http):
    tasks = (await http.get("/v1/tasks")).json()["tasks"]
    assert [task["name"] for task in tasks if task["available"]] == ["tts_sft"]
    assert {task["why"] for task in tasks if not task["available"]} == {
        "This engine has no tasks beside the conversation."
    }
    asked = {"task": "text_dialogue_sft_multiturn", "text": "Hello"}
    why = await refused(http, 400, "task_unavailable", "task", **asked)
    assert why == "This engine has no tasks beside the conversation."


@pytest.mark.parametrize("engine", [ScriptedEngine(tasks=tuple(TASKS), load_s=3600)])
async def test_while_the_engine_loads_nothing_can_be_done(url):
    async with httpx.AsyncClient(base_url=url, timeout=30) as http:
        told = (await http.get("/v1/tasks")).json()
        assert told["engine"] == ""
        assert not any(task["available"] for task in told["tasks"])
        assert {task["why"] for task in told["tasks"]} == {"The engine is still loading."}
        await refused(http, 503, "engine_loading", None, **SPEAK)


WRONG = [
    ("unknown_task", "task", {"task": "sing"}),
    ("unknown_variant", "variant", SPEAK | {"variant": "clean"}),
    ("input_missing", "text", {"task": "tts_sft"}),
    ("input_missing", "instruct", {"task": "tts_sft_with_instruct", "text": "One."}),
    ("input_missing", "voice", {"task": "tts_sft_with_audio", "text": "One."}),
    ("input_missing", "clip", {"task": "audio_understanding_sft", "question": "Who?"}),
    ("input_unused", "question", SPEAK | {"question": "Who?"}),
    ("input_unused", "history", SPEAK | {"history": [{"text": "a", "answer": "b"}]}),
    ("nothing_to_say", "text", {"task": "tts_sft", "text": "..."}),
    ("text_too_long", "text", {"task": "tts_sft", "text": "a" * 20_001}),
    ("text_too_long", "text", {"task": "text_dialogue_sft_multiturn", "text": "a" * 8001}),
    ("text_too_long", "text", {"task": "tts_sft_with_natural_instruction", "text": "a" * 1001}),
    ("bad_request", "instruct", SPEAK | {"instruct": "a" * 1001}),
    ("bad_request", "question", SPEAK | {"question": "a" * 2001}),
    ("bad_request", "system_prompt", SPEAK | {"system_prompt": "a" * 4001}),
    ("bad_request", "history", SPEAK | {"history": [{}] * 101}),
    ("history_too_long", "history", SPEAK | {"history": [{"text": "a" * 1000}] * 65}),
    ("bad_request", "max_tokens", SPEAK | {"max_tokens": 0}),
    ("bad_request", "max_tokens", SPEAK | {"max_tokens": MAX_REPLY_TOKENS + 1}),
    ("bad_request", "phrase", SPEAK | {"phrase": -1}),
    ("bad_request", "phrase", SPEAK | {"phrase": PHRASES}),
    ("bad_request", "speed", SPEAK | {"speed": 2}),
    ("bad_request", "history.0.sound", SPEAK | {"history": [{"sound": "x"}]}),
    ("voice_unknown", "voice", SPEAK | {"voice": "nobody"}),
    ("voice_twice", "voice_clip", SPEAK | {"voice": "ann", "voice_clip": "b"}),
]


@pytest.mark.parametrize(("code", "param", "asked"), WRONG)
async def test_what_is_wrong_is_told_with_its_field_before_anything_happens(
    http, engine, code, param, asked
):
    assert await refused(http, 400, code, param, **asked)
    assert not engine.runs


async def test_a_recording_that_is_not_there_is_told_with_its_field(http):
    dialogue = {"task": "spoken_dialogue_sft_multiturn", "clip": await send(http, tone(1.0))}
    await refused(http, 404, "clip_unknown", "clip", **dialogue | {"clip": "x"})
    await refused(http, 404, "clip_unknown", "voice_clip", **dialogue, voice_clip="x")
    history = [{"clip": dialogue["clip"], "answer": "Yes."}, {"clip": "x", "answer": "No."}]
    await refused(http, 404, "clip_unknown", "history.1.clip", **dialogue, history=history)
    history = [{"clip": dialogue["clip"], "answer": "Yes.", "answer_clip": "x"}]
    await refused(http, 404, "clip_unknown", "history.0.answer_clip", **dialogue, history=history)


async def test_of_more_sound_than_a_dialogue_can_hold_the_newest_is_kept(http, engine, monkeypatch):
    monkeypatch.setattr("backend.speech_api.task_sounds.MAX_HISTORY_S", 2.5)
    short, long = [await send(http, tone(seconds)) for seconds in (1.0, 2.0)]
    history = [
        {"text": "Oldest", "clip": short, "answer": "Yes."},
        {"text": "Long", "clip": long, "answer": "No.", "answer_clip": short},
        {"text": "Newest", "clip": short, "answer": "Maybe."},
    ]
    asked = {"task": "spoken_dialogue_sft_multiturn", "clip": long, "history": history}
    notice, *events = await done(http, **asked)
    assert (notice["type"], notice["code"]) == ("notice", "history_cut")
    assert notice["text"].startswith("2 recordings of earlier turns left out")
    assert events[-1]["outcome"] == "answered"
    oldest, middle, newest = engine.runs[0].task.history
    assert (oldest.text, oldest.clip, oldest.answer) == ("Oldest", None, "Yes.")
    assert (middle.text, middle.clip, middle.answer) == ("Long", None, "No.")
    assert middle.answer_clip.duration_s == newest.clip.duration_s == 1.0
    assert engine.runs[0].task.clip.duration_s == 2.0  # the new question counts for itself


async def test_all_that_is_asked_reaches_the_engine(http, engine):
    said, answered = await send(http, tone(1.0)), await send(http, tone(2.0, rate=16_000), 16_000)
    earlier = {"text": "Hi", "clip": said, "answer": "Hello", "answer_clip": answered}
    await done(
        http,
        task="spoken_dialogue_sft_multiturn",
        clip=said,
        voice_clip=answered,
        system_prompt="Be kind.",
        history=[earlier, {"text": "Typed", "answer": "Yes", "clip": None}],
        phrase=3,
        max_tokens=77,
        variant=None,
    )
    turn = engine.runs[0]
    task = turn.task
    assert turn.settings.max_reply_tokens == 77
    assert (task.system_prompt, task.phrase, task.text) == ("Be kind.", 3, "")
    assert (task.clip.duration_s, task.clip.sample_rate) == (1.0, RATE)
    assert (task.voice.duration_s, task.voice.sample_rate) == (2.0, 16_000)
    assert task.history[0].answer_clip is task.voice  # held once
    assert [turn.answer for turn in task.history] == ["Hello", "Yes"]
    assert task.history[1].clip is None


async def test_a_kept_voice_is_spoken_after(http, engine, library):
    owner = f"page-{hashlib.sha256(b'a' * 32).hexdigest()[:32]}"
    draft = VoiceDraft(name="Ann", consent="mine", reference_text="One two three.")
    voice = library.keep(owner, draft, AudioClip(tone(3.0), RATE))
    for name in (voice.id, "ann"):
        await done(http, task="tts_sft_with_audio", text="One.", voice=name)
        assert engine.runs[-1].task.voice.duration_s == 3.0
    asked = {"task": "tts_sft_with_audio", "text": "One.", "voice": "Ann"}
    headers = {"X-Omni-Owner": "b" * 32}
    answer = await http.post("/v1/tasks", json=asked, headers=headers)
    assert answer.json()["error"]["code"] == "voice_unknown"


async def test_a_voice_without_a_recording_is_refused(http, library):
    draft = VoiceDraft(name="Low", kind=VoiceMode.NAMED, speaker="low")
    library.keep(EVERYBODY, draft, shared=True)
    await refused(http, 400, "voice_mode", "voice", **SPEAK | {"voice": "Low"})


async def test_what_the_engine_refuses_ends_with_its_code(http, engine):
    async def refuse(engine, turn):
        raise TurnRefused("prompt_too_long", "This does not fit.", Field.TEXT)
        yield

    engine.script = refuse
    (end,) = await done(http, **SPEAK)
    assert (end["outcome"], end["refusal"]) == ("failed", "prompt_too_long")
    assert (end["message"], end["clip"]) == ("This does not fit.", None)


async def test_what_fails_in_the_middle_keeps_what_was_heard(http, engine):
    async def fail(engine, turn):
        yield SpeechChunk(turn_id=turn.id, pcm=tone(0.5), sample_rate=RATE)
        raise ValueError("the lights went out")

    engine.script = fail
    *_, end = await done(http, **SPEAK)
    assert end["outcome"] == "failed"
    assert "the lights went out" in end["message"]
    sound, _ = soundfile.read(
        io.BytesIO((await http.get(f"/v1/tasks/clips/{end['clip']}")).content)
    )
    assert len(sound) == RATE // 2


async def test_a_full_disk_does_not_end_a_reply_that_is_heard(http, monkeypatch):
    def no_room(recording, pcm):
        raise OSError("No space left on device")

    monkeypatch.setattr(Recording, "add", no_room)
    events = await done(http, **SPEAK)
    assert len(sound_of(events)) == int(0.6 * RATE)
    notice, end = events[-2:]
    assert notice["code"] == "sound_not_kept"
    assert (end["outcome"], end["clip"]) == ("answered", None)


async def test_nothing_is_left_on_the_disk_when_the_app_ends(
    thread, library, tmp_path, monkeypatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with served(thread, library) as address:
        async with httpx.AsyncClient(base_url=address, timeout=30, headers=PAGE) as http:
            await send(http, tone(1.0))
        assert len(list(tmp_path.glob("omni-live-clips-*/*.wav"))) == 1
    assert not list(tmp_path.glob("omni-live-clips-*"))


async def test_an_engine_that_has_nothing_to_say_says_why(http, engine):
    engine.script = stay_silent
    events = await done(http, **SPEAK)
    assert [event["type"] for event in events] == ["started", "notice", "end"]
    assert events[1] == {"type": "notice", "code": "silent", "text": "Nothing was asked."}
    assert events[2]["outcome"] == "silent"


async def test_leaving_ends_the_work_and_keeps_what_was_heard(http, engine, until):
    async def go_on(engine, turn):
        yield SpeechChunk(turn_id=turn.id, pcm=tone(0.5), sample_rate=RATE)
        await asyncio.sleep(3600)

    engine.script = go_on
    async with http.stream("POST", "/v1/tasks", json=SPEAK) as answer:
        async for line in answer.aiter_lines():
            clip = json.loads(line[6:])["clip"]
            break
    await until(lambda: len(engine.stopped) == 1)
    file = await http.get(f"/v1/tasks/clips/{clip}")
    assert len(soundfile.read(io.BytesIO(file.content))[0]) == RATE // 2


async def test_leaving_while_others_are_served_gives_the_place_back(http, engine, until):
    engine.script = hang
    async with under_way(http) as first:
        assert first == {"type": "text", "delta": "Well,"}
        async with under_way(http) as second:
            assert second == {"type": "queued", "text": "Waiting for the engine: 1 ahead of you."}
    await until(lambda: len(engine.stopped) == 1 and not engine.running)
    engine.script = everything
    assert (await done(http, **SPEAK))[-1]["outcome"] == "answered"
    assert len(engine.runs) == 2  # the one that waited never began


async def test_a_full_line_is_told_before_anything_happens(http, engine):
    engine.script = hang
    async with under_way(http), under_way(http), under_way(http):
        await refused(http, 429, "busy", None, **SPEAK)


@asynccontextmanager
async def under_way(http):
    """A task that goes on until the block is left; its first event."""
    async with http.stream("POST", "/v1/tasks", json=SPEAK) as answer:
        lines = answer.aiter_lines()
        yield json.loads((await anext(lines))[6:])
        await lines.aclose()


async def test_a_long_recording_is_written_down_in_parts(http, engine):
    async def write_down(engine, turn):
        yield ReplyText(turn_id=turn.id, delta=f"Part {len(engine.runs)}.")

    engine.script = write_down
    clip = await send(http, tone(70, rate=8000), 8000)
    events = await done(http, task="audio_trancribing_sft", variant="clean", clip=clip)
    text = "".join(event["delta"] for event in events if event["type"] == "text")
    assert text == "Part 1. Part 2. Part 3."
    assert all(turn.task.clip.duration_s <= 30 for turn in engine.runs)
    cues = [event["cues"] for event in events if event["type"] == "captions"][-1]
    assert (cues[0]["start_s"], cues[-1]["end_s"]) == (0, 70)
    assert [event["type"] for event in events].count("end") == 1
    assert [event["share"] for event in events if event["type"] == "progress"] == pytest.approx(
        [cue["end_s"] / 70 for cue in cues[:-1]], abs=1e-3
    )


async def test_a_long_text_is_one_sound(http, engine):
    story = " ".join(f"This is sentence number {n} of a story." for n in range(20))
    events = await done(http, task="tts_sft", text=story)
    count = len(engine.runs)
    assert count > 2
    assert len({event["clip"] for event in events if event["type"] == "audio"}) == 1
    file = await http.get(f"/v1/tasks/clips/{events[-1]['clip']}")
    sound, rate = soundfile.read(io.BytesIO(file.content))
    assert len(sound) / rate == pytest.approx(0.6 * count)


async def test_two_people_at_once_each_get_their_own(http, engine):
    async def slowly(engine, turn):
        for word in turn.task.text.split():
            yield ReplyText(turn_id=turn.id, delta=f"{word} ")
            yield SpeechChunk(turn_id=turn.id, pcm=tone(0.2), sample_rate=RATE)
            await asyncio.sleep(0.01)

    engine.script = slowly
    other = httpx.AsyncClient(
        base_url=http.base_url, timeout=30, headers={"X-Omni-Owner": "b" * 32}
    )
    async with other:
        texts = ("One two three.", "Four five six seven.")
        told = await asyncio.gather(
            *(
                done(one, task="tts_sft", text=text)
                for one, text in zip((http, other), texts, strict=True)
            )
        )
        for events, text in zip(told, texts, strict=True):
            said = "".join(event["delta"] for event in events if event["type"] == "text")
            assert said.strip() == text
            assert len(sound_of(events)) == int(0.2 * RATE) * len(text.split())
        clips = [events[-1]["clip"] for events in told]
        answers = [await other.get(f"/v1/tasks/clips/{clip}") for clip in clips]
        assert [answer.status_code for answer in answers] == [404, 200]


async def test_another_engine_does_not_go_on_with_half_done_work(http, url, engine, thread):
    gate = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def wait(engine, turn):
        yield ReplyText(turn_id=turn.id, delta="One.")
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(gate.wait(), loop))

    engine.script = wait
    story = " ".join(f"This is sentence number {n} of a story." for n in range(20))
    asked = asyncio.create_task(done(http, task="tts_sft", text=story))
    while not engine.runs:  # noqa: ASYNC110 - over the wire
        await asyncio.sleep(0.01)
    await thread.switch("other")
    gate.set()
    *_, end = await asked
    assert (end["outcome"], end["refusal"]) == ("failed", "engine_changed")


async def test_what_waited_through_a_change_of_the_engine_is_the_new_ones(library, until):
    gate = threading.Event()

    async def wait(engine, turn):
        await asyncio.to_thread(gate.wait)
        yield ReplyText(turn_id=turn.id, delta="One.")

    old = ScriptedEngine(wait, tasks=tuple(TASKS), name="old")
    new = ScriptedEngine(everything, tasks=tuple(TASKS), name="new")
    thread = EngineThread({"old": lambda: old, "new": lambda: new})
    with served(thread, library) as url:
        await until(lambda: thread.status.capabilities)
        async with httpx.AsyncClient(base_url=url, timeout=30, headers=PAGE) as http:
            first = asyncio.create_task(done(http, **SPEAK))
            await until(lambda: old.runs)
            async with http.stream("POST", "/v1/tasks", json=SPEAK) as answer:
                lines = answer.aiter_lines()
                assert '"queued"' in await anext(lines)
                await thread.switch("new")
                gate.set()
                *_, end = [json.loads(line[6:]) async for line in lines if line]
            await first
            file = await http.get(f"/v1/tasks/clips/{end['clip']}")
    assert soundfile.SoundFile(io.BytesIO(file.content)).artist == "new"


async def test_clients_that_do_not_say_who_they_are_push_nothing_of_each_other_out(
    thread, library, monkeypatch
):
    monkeypatch.setattr(task_routes, "ShelfLimits", partial(ShelfLimits, own_clips=2))
    with served(thread, library) as url:
        async with httpx.AsyncClient(base_url=url, timeout=30) as http:
            clips = [await send(http, tone(1.0)) for _ in range(2)]
            with pytest.raises(AssertionError, match="shelf_full"):
                await send(http, tone(1.0))
            answers = [await http.get(f"/v1/tasks/clips/{clip}") for clip in clips]
            assert [answer.status_code for answer in answers] == [200, 200]
            for _ in range(3):
                await send(http, tone(1.0), **PAGE)


async def test_other_pages_and_larger_bodies_are_refused(http):
    headers = {"Origin": "https://elsewhere.example", "Sec-Fetch-Site": "cross-site"}
    answer = await http.post("/v1/tasks", json=SPEAK, headers=headers)
    assert answer.json()["error"]["code"] == "foreign_page"
    answer = await http.post("/v1/tasks", json=SPEAK | {"text": "a" * 3_000_000})
    assert answer.json()["error"]["code"] == "too_large"


CUES = [{"start_s": 0, "end_s": 1.5, "text": "One."}, {"start_s": 1.5, "end_s": 2, "text": "Two."}]


async def test_captions_become_files(http):
    answer = await http.post("/v1/tasks/captions/srt", json={"cues": CUES})
    assert answer.headers["content-type"].startswith("application/x-subrip")
    assert answer.text.startswith("1\n00:00:00,000 --> 00:00:01,500\nOne.\n")
    answer = await http.post("/v1/tasks/captions/vtt", json={"cues": CUES})
    assert answer.text.startswith("WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nOne.\n")


async def test_halves_of_characters_are_refused_as_what_they_are(http):
    headers = {"Content-Type": "application/json"}
    for route, body in (
        ("", r'{"task": "\ud800"}'),
        ("", r'{"task": "tts_sft", "text": "One \ud800 two."}'),
        ("/captions/vtt", r'{"cues": [{"start_s": 0, "end_s": 1, "text": "\ud800"}]}'),
        ("", '{"task"'),
    ):
        answer = await http.post(f"/v1/tasks{route}", content=body, headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request")


@pytest.mark.parametrize(
    "cue",
    ['{"start_s": NaN, "end_s": 1, "text": "a"}', '{"start_s": -1, "end_s": 1, "text": "a"}'],
)
async def test_captions_without_times_are_refused(http, cue):
    headers = {"Content-Type": "application/json"}
    answer = await http.post(
        "/v1/tasks/captions/srt", content=f'{{"cues": [{cue}]}}', headers=headers
    )
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "cues.0.start_s")
