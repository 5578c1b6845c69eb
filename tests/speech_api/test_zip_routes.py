"""Voices leave over the API as one zip, and come back with a word on each."""

from __future__ import annotations

import io
import json
import zipfile
from contextlib import asynccontextmanager

import httpx
import pytest
from fastapi import FastAPI

from backend.engines.ears import Ears
from backend.media.limits import MediaLimits
from backend.runtime.engine_thread import EngineThread
from backend.speech_api.errors import answer_errors
from backend.speech_api.guards import EVERYBODY
from backend.speech_api.voice_routes import make_voice_router
from backend.speech_api.zip_routes import make_zip_router
from backend.voices.library import VoiceLibrary
from backend.voices.portable import MANIFEST
from tests.engines.embedded.doubles import FakeRecognizer
from tests.scripted_engine import ScriptedEngine
from tests.serving import run_app
from tests.voices.test_library import a_clip, a_copy

SECRET = {"X-Omni-Owner": "a" * 32}
MAX_BYTES = 1_000_000


@pytest.fixture
def library(tmp_path):
    opened = VoiceLibrary(tmp_path, lambda: ("Vivian",))
    yield opened
    opened.close()


@pytest.fixture
async def http(library):
    thread = EngineThread(ScriptedEngine)

    @asynccontextmanager
    async def run_engine(_app):
        thread.start()
        yield
        thread.close()

    app = FastAPI(lifespan=run_engine)
    app.include_router(make_zip_router(library, MAX_BYTES))
    app.include_router(
        make_voice_router(
            thread, Ears(thread, FakeRecognizer()), library, MediaLimits(300, 600, MAX_BYTES)
        )
    )
    answer_errors(app)
    with run_app(app) as url:
        async with httpx.AsyncClient(base_url=f"{url}/v1/audio/voices", timeout=30) as client:
            yield client


def keep(library, *names):
    return [library.keep(EVERYBODY, a_copy(name), a_clip()) for name in names]


async def bring_in(http, data, headers=None, **fields):
    return await http.post("/archive", files={"archive": data}, data=fields, headers=headers)


def names_in(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        manifest = json.loads(archive.read(MANIFEST))
    return [entry["voice"]["name"] for entry in manifest["voices"]]


def error_of(answered):
    return answered.status_code, answered.json()["error"]["code"]


async def test_all_own_voices_leave_in_one_zip_and_come_back(http, library):
    keep(library, "Anna", "Bea")
    taken = await http.get("/archive")
    assert taken.headers["content-type"] == "application/zip"
    assert "voices.zip" in taken.headers["content-disposition"]
    assert names_in(taken.content) == ["Anna", "Bea"]
    told = (await bring_in(http, taken.content, SECRET)).json()
    assert [voice["name"] for voice in told["kept"]] == ["Anna", "Bea"]
    assert told["refused"] == []
    for voice in told["kept"]:
        sample = await http.get(f"/{voice['id']}/sample", headers=SECRET)
        assert sample.content[:4] == b"RIFF"


async def test_only_the_voices_that_are_named_leave(http, library):
    _, bea, cleo = keep(library, "Anna", "Bea", "Cleo")
    taken = await http.get("/archive", params={"ids": [cleo.id, bea.id]})
    assert names_in(taken.content) == ["Cleo", "Bea"]


async def test_no_voice_of_another_leaves(http, library):
    (anna,) = keep(library, "Anna")
    assert error_of(await http.get("/archive", headers=SECRET)) == (404, "no_voices")
    library.change(EVERYBODY, anna.id, shared=True)
    assert error_of(await http.get("/archive", headers=SECRET)) == (404, "no_voices")
    library.keep(EVERYBODY, a_copy("Bea"), a_clip())
    missing = await http.get("/archive", params={"ids": [anna.id, "0" * 32]})
    assert error_of(missing) == (404, "voice_unknown")


async def test_a_lost_recording_is_told_with_the_name_of_its_voice(http, library, tmp_path):
    (anna,) = keep(library, "Anna")
    (tmp_path / "clips" / anna.clip).unlink()
    answered = await http.get("/archive")
    assert error_of(answered) == (410, "clip_lost")
    assert "Anna" in answered.json()["error"]["message"]


async def test_a_name_that_is_taken_gets_a_number_unless_it_is_to_be_replaced(http, library):
    (anna,) = keep(library, "Anna")
    data = (await http.get("/archive")).content
    (second,) = (await bring_in(http, data)).json()["kept"]
    assert (second["name"], second["name_in_archive"]) == ("Anna (2)", "Anna")
    (replaced,) = (await bring_in(http, data, replace="true")).json()["kept"]
    assert replaced["name"] == "Anna"
    assert {voice.id for voice in library.voices(EVERYBODY)} == {second["id"], replaced["id"]}
    assert anna.id != replaced["id"]


async def test_what_cannot_be_kept_is_told_and_the_rest_is_kept(http, library):
    keep(library, "Anna", "Bea")
    data = io.BytesIO((await http.get("/archive")).content)
    with zipfile.ZipFile(data) as archive:
        manifest = json.loads(archive.read(MANIFEST))
        clip = archive.read(manifest["voices"][1]["clip"])
    manifest["voices"][0]["voice"]["consent"] = ""
    changed = io.BytesIO()
    with zipfile.ZipFile(changed, "w") as archive:
        archive.writestr(MANIFEST, json.dumps(manifest))
        archive.writestr(manifest["voices"][1]["clip"], clip)
    told = (await bring_in(http, changed.getvalue(), SECRET)).json()
    assert [voice["name"] for voice in told["kept"]] == ["Bea"]
    (refused,) = told["refused"]
    assert (refused["name"], refused["code"]) == ("Anna", "consent_missing")
    assert "agrees" in refused["message"]


async def test_what_is_no_zip_of_voices_is_refused(http):
    answered = await bring_in(http, b"no zip at all, but longer than the end of one has to be")
    assert error_of(answered) == (400, "zip_unreadable")
    assert answered.json()["error"]["param"] == "archive"


async def test_too_much_is_refused_before_it_is_read(http):
    assert error_of(await bring_in(http, bytes(2 * MAX_BYTES))) == (413, "too_large")


async def test_no_other_web_page_may_take_or_bring_voices(http, library):
    keep(library, "Anna")
    evil = {"Origin": "http://evil.example"}
    assert error_of(await http.get("/archive", headers=evil)) == (403, "foreign_page")
    assert error_of(await bring_in(http, b"", evil)) == (403, "foreign_page")
