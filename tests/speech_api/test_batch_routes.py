"""A file of texts over HTTP: what is wrong in it is told, the rest is spoken and handed out."""

from __future__ import annotations

import asyncio
import csv
import io
import zipfile
from contextlib import asynccontextmanager, contextmanager

import av
import httpx
import pytest
import soundfile
from fastapi import FastAPI

from backend.contract.errors import TurnRefused
from backend.contract.events import SpeechChunk
from backend.contract.media import AudioClip
from backend.contract.turn import Turn
from backend.contract.voice import VoiceControls, VoiceMode
from backend.runtime.engine_thread import EngineThread
from backend.settings import Settings
from backend.speech_api import batch_speaking
from backend.speech_api.batch_routes import make_batch_router
from backend.speech_api.errors import answer_errors
from backend.voices.library import VoiceLibrary
from backend.voices.voice import VoiceDraft
from tests.scripted_engine import RATE, ScriptedEngine, hang, tone
from tests.serving import run_app

VOICES = VoiceControls(
    speakers=("low", "high"),
    languages=("auto", "en", "de"),
    style_chars=20,
    changes_speed=True,
    takes_sampling=True,
)
COPIES = VoiceControls(modes=(VoiceMode.CLONE,), reference_s=(1, 30))
PAGE = {"X-Omni-Owner": "a" * 32}


async def recite(engine, turn):
    """A tone of 0.2 s for each word."""
    if "refused" in turn.script:
        raise TurnRefused("nothing_to_say", "The engine will not say this.")
    if "stubborn" in turn.script and len(engine.runs) < 3:
        raise ValueError("not yet")
    yield SpeechChunk(turn_id=turn.id, pcm=tone(0.2 * len(turn.script.split())), sample_rate=RATE)
    if "break" in turn.script:
        raise ValueError("broken")
    if "hold" in turn.script:
        await asyncio.sleep(3600)


@pytest.fixture
def engine():
    return ScriptedEngine(recite, voice=VOICES, recites=True)


@pytest.fixture
def settings(tmp_path):
    return Settings(
        _env_file=None,
        data_dir=tmp_path,
        max_batch_items=8,
        max_batch_chars=3000,
        max_own_batches=3,
    )


@contextmanager
def served(engine, settings, **options):
    """The routes while they run, as often as the app is started, on one or several engines."""
    makers = engine if isinstance(engine, dict) else lambda: engine
    thread = EngineThread(makers, **options)
    library = VoiceLibrary(settings.data_dir / "voices", lambda: VOICES.speakers)

    @asynccontextmanager
    async def run_engine(_app):
        thread.start()
        yield
        thread.close()
        library.close()

    app = FastAPI(lifespan=run_engine)
    app.include_router(make_batch_router(thread, library, settings))
    answer_errors(app)
    with run_app(app) as url:
        yield thread, f"{url}/v1/audio"


@asynccontextmanager
async def client(url):
    async with httpx.AsyncClient(base_url=url, timeout=30, headers=PAGE) as http:
        yield http


@pytest.fixture
def app(engine, settings):
    with served(engine, settings) as (thread, url):
        yield thread, url


@pytest.fixture
async def http(app):
    async with client(app[1]) as http:
        yield http


async def send(http, text, name="lines.txt"):
    """Send a file once the engine is ready."""
    while True:
        answer = await http.post("/batches", files={"file": (name, text.encode())})
        if answer.status_code != 503:
            return answer
        await asyncio.sleep(0.02)


async def planned(http, text, name="lines.txt"):
    answer = await send(http, text, name)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def start(http, batch, **options):
    return await http.post(f"/batches/{batch['id']}/start", json=options)


async def once(http, batch, condition):
    """The batch, as soon as it is so."""
    for _ in range(600):
        told = (await http.get(f"/batches/{batch['id']}")).json()
        if condition(told):
            return told
        await asyncio.sleep(0.02)
    raise AssertionError(told)


async def spoken(http, batch, **options):
    answer = await start(http, batch, **options)
    assert answer.status_code == 200, answer.text
    return await once(http, batch, lambda told: told["state"] == "finished")


async def unpacked(http, batch):
    answer = await http.get(f"/batches/{batch['id']}/zip")
    assert answer.headers["content-type"] == "application/zip"
    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    table = io.StringIO(archive.read("manifest.csv").decode("utf-8-sig"), newline="")
    return archive, list(csv.DictReader(table))


async def test_a_text_file_becomes_a_zip_of_its_lines(http, engine):
    batch = await planned(http, "Good morning.\n\nHow do you do?\n")
    assert (batch["state"], batch["waiting"], engine.runs) == ("planned", 2, [])
    told = await spoken(http, batch, voice="high")
    assert (told["done"], told["made_s"], told["current"]) == (2, pytest.approx(1.2), None)
    archive, table = await unpacked(http, batch)
    assert archive.namelist() == ["manifest.csv", "001-good-morning.wav", "002-how-do-you-do.wav"]
    samples, rate = soundfile.read(io.BytesIO(archive.read("002-how-do-you-do.wav")))
    assert len(samples) / rate == pytest.approx(0.8, abs=0.001)
    assert [(row["voice"], row["seconds"], row["error"]) for row in table] == [
        ("high", "0.40", ""),
        ("high", "0.80", ""),
    ]
    assert {turn.settings.voice.speaker for turn in engine.runs} == {"high"}


async def test_each_line_of_a_table_is_spoken_as_it_says(http, engine):
    batch = await planned(
        http,
        "name;text;voice;speed;instructions;language;seed\n"
        "Intro;Good morning.;high;1,5;warm;de;7\n"
        ";Good night.;;;;;\n",
        "table.csv",
    )
    await spoken(http, batch, voice="low", response_format="mp3")
    first, second = (turn.settings for turn in engine.runs)
    assert (first.voice.speaker, first.voice.style, first.voice.language) == ("high", "warm", "de")
    assert (first.voice_speed, first.seed) == (1.5, 7)
    assert (second.voice.speaker, second.voice_speed, second.seed) == ("low", 1.0, None)
    archive, _ = await unpacked(http, batch)
    assert archive.namelist()[1:] == ["001-intro.mp3", "002-good-night.mp3"]


async def test_an_engine_that_only_copies_asks_for_a_kept_voice_where_a_line_names_none(settings):
    library = VoiceLibrary(settings.data_dir / "voices")
    anna = VoiceDraft(name="Anna", reference_text="Hello.", consent="Yes.")
    library.keep("somebody", anna, AudioClip(tone(2.0), RATE), shared=True)
    library.close()
    engine = ScriptedEngine(recite, voice=COPIES, recites=True)
    with served(engine, settings) as (_, url):
        async with client(url) as http:
            batch = await planned(http, "Hello there.\n")
            assert (batch["waiting"], batch["left_out"]) == (1, 0)
            refused = (await start(http, batch, voice="default")).json()["error"]
            assert (refused["code"], refused["param"]) == ("voice_missing", "voice")
            await spoken(http, batch, voice="Anna")
            named = await planned(http, "text,voice\nHello.,Anna\n", "table.csv")
            await spoken(http, named, voice="default")
    assert [turn.settings.voice.reference_text for turn in engine.runs] == ["Hello."] * 2


@pytest.mark.parametrize("kind", ["wav", "flac", "mp3"])
async def test_every_file_says_that_nobody_spoke_and_how_long_it_is(http, kind):
    batch = await planned(http, "Good morning everybody.\n")
    await spoken(http, batch, voice="high", response_format=kind)
    archive, _ = await unpacked(http, batch)
    data = archive.read(archive.namelist()[1])
    assert soundfile.info(io.BytesIO(data)).duration == pytest.approx(0.6, abs=0.12)
    with av.open(io.BytesIO(data)) as container:
        notes = container.metadata
    assert "Synthetic speech" in notes.values()
    assert "scripted, voice high" in notes.values()


WRONG = """text,voice,speed,seed,language,instructions
Good morning.,,,,,
,high,,,,
Hello.,nobody,,,,
Hello.,,fast,,,
Hello.,,9,-1,,
Hello.,,,,english,
Hello.,,,,fr,"a very long instruction"
?!,,,,,
"""


ASKS_MUCH = """text,speed,instructions,seed,language
a,2,,,
b,,warm,,
c,,,7,
d,,,,en
e,1,,,auto
"""


async def test_what_is_wrong_is_told_line_by_line_before_anything_is_spoken(http, engine):
    batch = await planned(http, WRONG, "table.csv")
    assert (batch["waiting"], batch["left_out"]) == (1, 7)
    told = {item["line"]: item["reason"] for item in batch["list"] if item["state"] == "left_out"}
    for line, words in {
        3: ["no text"],
        4: ["no voice called nobody", "low, high"],
        5: ["from 0.25 to 4", "it says fast"],
        6: ["from 0.25 to 4", "it says 9", "whole number", "it says -1"],
        7: ["two or three small letters", "it says english"],
        8: ["does not speak fr", "23 characters; the limit is 20"],
        9: ["no words to speak"],
    }.items():
        for piece in words:
            assert piece in told[line], line
    refused = (await start(http, batch)).json()["error"]
    assert (refused["code"], refused["param"]) == ("items_left_out", "leave_out")
    assert engine.runs == []
    assert (await spoken(http, batch, leave_out=True))["done"] == 1
    _, table = await unpacked(http, batch)
    assert len(table) == 8
    assert "no voice called nobody" in table[2]["error"]


async def test_an_engine_that_can_do_little_says_so_line_by_line(engine, settings):
    engine.voice = VoiceControls(speakers=("low",))
    with served(engine, settings) as (_, url):
        async with client(url) as http:
            batch = await planned(http, ASKS_MUCH, "table.csv")
    reasons = [item.get("reason", "") for item in batch["list"]]
    assert "one speed" in reasons[0]
    assert "no instructions" in reasons[1]
    assert reasons[2] == "The engine that runs here takes no seed."
    assert reasons[3] == "The engine that runs here is not told which language to speak."
    assert reasons[4] == ""


@pytest.mark.parametrize(
    ("text", "name", "code"),
    [
        ("\n".join("abcdefghi"), "lines.txt", "too_many_items"),
        ("\n".join(["word " * 200] * 4), "lines.txt", "too_many_characters"),
        ("words\nHello.", "table.csv", "text_column"),
        ("Hello.", "lines.pdf", "file_kind"),
    ],
)
async def test_a_file_that_makes_no_batch_is_refused(http, text, name, code):
    answer = await send(http, text, name)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)
    assert (await http.get("/batches")).json()["batches"] == []


async def test_an_item_that_is_too_long_is_left_out(engine, settings):
    settings.max_batch_chars = 10_000
    with served(engine, settings) as (_, url):
        async with client(url) as http:
            batch = await planned(http, "word " * 500 + "\nShort.\n")
    assert "2,499 characters; the limit is 2,000" in batch["list"][0]["reason"]
    assert batch["waiting"] == 1


async def test_a_voice_that_is_not_there_is_refused_before_the_start(http, engine):
    batch = await planned(http, "Good morning.")
    refused = await start(http, batch, voice="nobody")
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "voice")
    assert (await http.get(f"/batches/{batch['id']}")).json()["state"] == "planned"


async def test_a_batch_that_is_being_spoken_keeps_its_voice_and_its_format(http, until, engine):
    batch = await planned(http, "Please hold on.")
    await start(http, batch, voice="high", response_format="flac")
    await until(lambda: engine.running == 1)
    for other in ({"voice": "low"}, {"response_format": "mp3"}):
        refused = await start(http, batch, **other)
        error = refused.json()["error"]
        assert (refused.status_code, error["code"]) == (409, "batch_running")
        assert [error["param"]] == list(other)
        assert "Stop it first" in error["message"]
    same = await start(http, batch, voice="high", response_format="flac")
    assert (same.status_code, same.json()["voice"], same.json()["response_format"]) == (
        200,
        "high",
        "flac",
    )


async def test_items_that_fail_are_named_and_tried_again_and_the_others_are_spoken(http, engine):
    batch = await planned(http, "I am stubborn.\nThis is refused.\nTo break.\nFine.")
    told = await spoken(http, batch)
    assert (told["done"], told["failed"]) == (1, 3)
    reasons = [item.get("reason", "") for item in told["list"]]
    assert "not yet" in reasons[0]
    assert reasons[1:] == [
        "The engine will not say this.",
        "This went wrong: broken",
        "",
    ]
    told = await spoken(http, batch, again=True)
    assert (told["done"], told["failed"]) == (2, 2)
    assert (await start(http, batch)).json()["error"]["code"] == "nothing_waits"


async def test_a_batch_is_stopped_shown_and_resumed_after_a_restart(engine, settings, until):
    with served(engine, settings) as (_, url):
        async with client(url) as http:
            batch = await planned(http, "One.\nPlease hold on.\nThree.")
            await start(http, batch, voice="high", response_format="flac")
            told = await once(http, batch, lambda told: told["made_s"] > 0.3)
            assert (told["current"]["number"], told["done"]) == (2, 1)
            assert told["left_s"] > 0
            stopped = (await http.post(f"/batches/{batch['id']}/stop")).json()
            assert (stopped["state"], stopped["current"]) == ("stopped", None)
            await until(lambda: engine.stopped == [engine.runs[1].id])
            await start(http, batch)
            await once(http, batch, lambda told: told["current"] and told["current"]["made_s"])
    engine.script, engine.runs = recite_all, []
    with served(engine, settings) as (_, url):
        async with client(url) as http:
            (found,) = (await http.get("/batches")).json()["batches"]
            assert (found["id"], found["state"], found["done"]) == (batch["id"], "stopped", 1)
            assert found["stopped_by"] == "The app was restarted. What is done is kept."
            await planned(http, "Wait until the engine is ready.")
            assert (await spoken(http, batch))["done"] == 3
            archive, _ = await unpacked(http, batch)
    assert [turn.script for turn in engine.runs] == ["Please hold on.", "Three."]
    assert [name[-5:] for name in archive.namelist()[1:]] == [".flac"] * 3


async def recite_all(engine, turn):
    yield SpeechChunk(turn_id=turn.id, pcm=tone(0.2), sample_rate=RATE)


def noted(thread, monkeypatch):
    """The turns that the engine is asked for from now on, also those that find no place."""
    tried = []
    submit = thread.submit

    def note(turn):
        tried.append(turn)
        return submit(turn)

    monkeypatch.setattr(thread, "submit", note)
    return tried


async def test_an_item_waits_while_the_line_is_full_and_conversations_come_first(
    engine, settings, monkeypatch, until
):
    monkeypatch.setattr(batch_speaking, "_AGAIN_S", 0.05)
    engine.scripts = {"busy": hang}
    with served(engine, settings, max_waiting=1) as (thread, url):
        async with client(url) as http:
            batch = await planned(http, "One.\nTwo.")
            talks = [thread.submit(Turn("talk", n, text="busy")) for n in range(2)]
            tried = noted(thread, monkeypatch)
            await start(http, batch)
            await until(lambda: engine.runs and len(tried) > 2)
            told = (await http.get(f"/batches/{batch['id']}")).json()
            assert (told["state"], told["failed"]) == ("running", 0)
            assert [turn.text for turn in engine.runs] == ["busy"]
            talks[0].cancel()
            await until(lambda: len(engine.runs) == 2)
            assert engine.runs[1].text == "busy"
            talks[1].cancel()
            await once(http, batch, lambda told: told["done"] == 2)


async def test_an_engine_that_is_down_stops_the_batch_and_fails_nothing(http, app):
    batch = await planned(http, "One.\nTwo.")
    app[0].close()
    await start(http, batch)
    told = await once(http, batch, lambda told: told["state"] == "stopped")
    assert told["stopped_by"].startswith("The engine is not running")
    assert (told["waiting"], told["failed"]) == (2, 0)


async def briefly(engine, turn):
    """A tone, whatever the words."""
    yield SpeechChunk(turn_id=turn.id, pcm=tone(0.1), sample_rate=RATE)


async def test_a_change_of_the_model_stops_a_batch_until_it_is_resumed(engine, settings):
    other = ScriptedEngine(briefly, voice=VOICES, recites=True)
    makers = {"one": lambda: engine, "two": lambda: other}
    with served(makers, settings, let_end_s=0.1) as (thread, url):
        async with client(url) as http:
            batch = await planned(http, "First.\nhold on\nThird.\n")
            await start(http, batch)
            await once(http, batch, lambda told: told["current"] and told["current"]["made_s"])
            await thread.switch("two")
            told = await once(http, batch, lambda told: told["state"] == "stopped")
            assert told["stopped_by"].startswith("The model was changed from one to two.")
            assert (told["done"], told["waiting"]) == (1, 2)
            told = await spoken(http, batch)
            assert told["done"] == 3
    assert [turn.script for turn in other.runs] == ["hold on", "Third."]


async def test_a_batch_that_was_stopped_goes_on_with_the_model_that_there_is_then(engine, settings):
    other = ScriptedEngine(briefly, voice=VOICES, recites=True)
    makers = {"one": lambda: engine, "two": lambda: other}
    with served(makers, settings) as (thread, url):
        async with client(url) as http:
            batch = await planned(http, "First.\nhold on\nThird.\n")
            await start(http, batch)
            await once(http, batch, lambda told: told["done"] == 1)
            await http.post(f"/batches/{batch['id']}/stop")
            await thread.switch("two")
            told = await spoken(http, batch)
            assert told["done"] == 3
    assert [turn.script for turn in other.runs] == ["hold on", "Third."]


async def test_a_batch_is_its_owners_alone(http, app):
    batch = await planned(http, "Good morning.")
    await spoken(http, batch)
    async with httpx.AsyncClient(base_url=app[1], timeout=30) as stranger:
        assert (await stranger.get("/batches")).json()["batches"] == []
        for method, path in (
            ("GET", ""),
            ("GET", "/zip"),
            ("GET", "/zip?key=guessed"),
            ("POST", "/stop"),
            ("DELETE", ""),
        ):
            answer = await stranger.request(method, f"/batches/{batch['id']}{path}")
            assert (answer.status_code, answer.json()["error"]["code"]) == (404, "batch_unknown")
        opened = await stranger.get(f"/batches/{batch['id']}/zip?key={batch['download_key']}")
        assert opened.status_code == 200
        assert "filename*=UTF-8''lines.zip" in opened.headers["content-disposition"]


async def test_one_person_has_only_so_many_and_makes_room_by_deleting(http, settings):
    batches = [await planned(http, "Good morning.") for _ in range(3)]
    full = await send(http, "Good morning.")
    assert (full.status_code, full.json()["error"]["code"]) == (429, "batches_full")
    assert (await http.delete(f"/batches/{batches[0]['id']}")).json()["deleted"]
    assert len(list((settings.data_dir / "batches").iterdir())) == 2
    await planned(http, "Good morning.")


async def test_a_batch_is_deleted_while_it_is_spoken(http, engine, until):
    batch = await planned(http, "Please hold on.")
    await start(http, batch)
    await until(lambda: engine.running == 1)
    await http.delete(f"/batches/{batch['id']}")
    await until(lambda: engine.running == 0)
    assert (await http.get(f"/batches/{batch['id']}")).status_code == 404


async def test_no_other_web_page_may_use_it(http):
    answer = await http.get("/batches", headers={"Origin": "http://evil.example"})
    assert answer.status_code == 403
