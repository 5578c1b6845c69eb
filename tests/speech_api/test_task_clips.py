"""Recordings for tasks over HTTP: what is taken in, what is said of it, and who gets it back."""

from __future__ import annotations

import asyncio
import io
import threading
from contextlib import asynccontextmanager

import httpx
import numpy as np
import pytest
import soundfile
from fastapi import FastAPI, Request

from backend.contract.media import AudioClip
from backend.media.limits import MediaLimits
from backend.speech_api import task_clips
from backend.speech_api.errors import answer_errors
from backend.speech_api.guards import owner_of
from backend.speech_api.task_clips import make_clip_router
from backend.tasks.shelf import ClipShelf, ShelfLimits
from tests.clips import tone, write_sound, write_vorbis
from tests.serving import run_app

PAGE = {"X-Omni-Owner": "a" * 32}
LIMITS = MediaLimits(max_audio_s=60, max_video_s=60, max_bytes=10_000_000)


@pytest.fixture
def shelf():
    return ClipShelf(ShelfLimits(clips=3))


@pytest.fixture
async def http(shelf):
    @asynccontextmanager
    async def run(_app):
        yield
        shelf.close()

    app = FastAPI(lifespan=run)
    app.include_router(make_clip_router(shelf, LIMITS))
    answer_errors(app)
    with run_app(app) as url:
        async with httpx.AsyncClient(base_url=url, timeout=30, headers=PAGE) as client:
            yield client


async def send(http, data, **headers):
    return await http.post("/v1/tasks/clips", files={"file": data}, headers=headers)


async def kept(http, data):
    answer = await send(http, data)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def refusal(http, data):
    answer = await send(http, data)
    assert answer.json()["error"]["param"] == "file"
    return answer.status_code, answer.json()["error"]["code"]


def wav(sound, rate=24_000, subtype="PCM_16"):
    file = io.BytesIO()
    soundfile.write(file, sound, rate, format="WAV", subtype=subtype)
    return file.getvalue()


async def heard(http, clip_id):
    answer = await http.get(f"/v1/tasks/clips/{clip_id}")
    assert answer.headers["content-type"] == "audio/wav"
    return soundfile.read(io.BytesIO(answer.content))


async def test_a_recording_comes_back_at_its_own_rate(http):
    for rate in (8_000, 22_050, 44_100):
        told = await kept(http, wav(tone(1.0, rate), rate))
        assert (told["duration_s"], told["notes"]) == (1.0, [])
        sound, back = await heard(http, told["id"])
        assert back == rate
        assert np.allclose(sound, tone(1.0, rate), atol=1e-3)


async def test_rates_beyond_hearing_are_brought_down(http):
    told = await kept(http, wav(tone(1.0, 96_000), 96_000))
    sound, rate = await heard(http, told["id"])
    assert (rate, len(sound)) == (48_000, 48_000)


async def test_files_of_other_kinds_are_taken(http, tmp_path):
    for path in (
        write_sound(tmp_path / "a.mp3", tone(2.0, 44_100), 44_100, "libmp3lame", layout="stereo"),
        write_vorbis(tmp_path / "a.ogg", tone(2.0, 48_000), 48_000),
        write_sound(tmp_path / "a.m4a", tone(2.0, 48_000), 48_000, "aac"),
    ):
        told = await kept(http, path.read_bytes())
        assert told["duration_s"] == pytest.approx(2.0, abs=0.1)


async def test_what_is_no_recording_is_refused(http):
    assert await refusal(http, b"") == (400, "audio_unreadable")
    assert await refusal(http, b"no sound") == (400, "audio_unreadable")
    assert await refusal(http, wav(np.zeros(0))) == (400, "audio_too_short")
    assert await refusal(http, wav(tone(0.05, 24_000))) == (400, "audio_too_short")
    assert await refusal(http, wav(tone(61, 8_000), 8_000)) == (400, "audio_too_long")
    assert await refusal(http, wav(tone(1.0, 4_000), 4_000)) == (400, "audio_rate")
    broken = tone(1.0, 24_000)
    broken[99] = np.nan
    assert await refusal(http, wav(broken, subtype="FLOAT")) == (400, "audio_not_finite")


async def test_larger_files_are_refused_before_they_are_read(http):
    answer = await send(http, b"0" * 11_000_000)
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")


async def test_a_request_without_a_file_is_told_so(http):
    answer = await http.post("/v1/tasks/clips", files={"sound": b"x"})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "file")


def notes_of(told):
    return [note["code"] for note in told["notes"]]


async def test_what_may_be_wrong_with_it_is_said(http):
    assert notes_of(await kept(http, wav(tone(1.0, 24_000, peak=0.001)))) == ["quiet"]
    cut_off = np.clip(tone(1.0, 24_000, peak=3.0), -1, 1)
    assert notes_of(await kept(http, wav(cut_off))) == ["clipped"]
    assert notes_of(await kept(http, wav(tone(45, 8_000, peak=1.0), 8_000))) == ["long"]


async def test_each_has_only_their_own(http):
    told = await kept(http, wav(tone(1.0, 24_000)))
    answer = await http.get(f"/v1/tasks/clips/{told['id']}", headers={"X-Omni-Owner": "b" * 32})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "clip_unknown")
    assert (await http.get("/v1/tasks/clips/nothing")).status_code == 404


async def test_a_full_shelf_is_told(http):
    for _ in range(3):
        await kept(http, wav(tone(1.0, 24_000)))
    assert await refusal(http, wav(tone(1.0, 24_000))) == (429, "shelf_full")


def made_clip(shelf):
    """A clip of the page's that the app made."""
    owner = owner_of(Request({"type": "http", "headers": [(b"x-omni-owner", b"a" * 32)]}))
    made = shelf.record(owner, "scripted, voice Ann", 24_000)
    made.add(tone(1.0, 24_000).astype(np.float32))
    return made.finish()


async def test_only_what_was_made_says_that_nobody_spoke(http, shelf):
    sent = await kept(http, wav(tone(1.0, 24_000)))
    assert b"Synthetic" not in (await http.get(f"/v1/tasks/clips/{sent['id']}")).content
    file = await http.get(f"/v1/tasks/clips/{made_clip(shelf).id}")
    notes = soundfile.SoundFile(io.BytesIO(file.content))
    assert (notes.comment, notes.artist) == ("Synthetic speech", "scripted, voice Ann")


async def test_what_was_sent_in_does_not_wait_for_what_is_being_marked(
    http, shelf, until, monkeypatch
):
    begun, gate = threading.Event(), threading.Event()

    def slowly(*_):
        begun.set()
        gate.wait()
        return b""

    monkeypatch.setattr(task_clips, "whole_file", slowly)
    sent = await kept(http, wav(tone(1.0, 24_000)))
    marking = asyncio.create_task(http.get(f"/v1/tasks/clips/{made_clip(shelf).id}"))
    try:
        await until(begun.is_set)
        assert (await heard(http, sent["id"]))[1] == 24_000
        assert not marking.done()
    finally:
        gate.set()
    await marking


async def test_what_makes_room_while_it_is_asked_for_is_told_as_gone(http, shelf):
    made = made_clip(shelf)
    sent = shelf.keep(made.owner, AudioClip(tone(1.0, 24_000), 24_000))
    for clip in (made, sent):
        clip.path.unlink()  # as when it is pushed out between the look and the reading
        answer = await http.get(f"/v1/tasks/clips/{clip.id}")
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "clip_unknown")


async def test_other_pages_are_refused(http):
    headers = {"Origin": "https://elsewhere.example", "Sec-Fetch-Site": "cross-site"}
    answer = await send(http, wav(tone(1.0, 24_000)), **headers)
    assert answer.json()["error"]["code"] == "foreign_page"
