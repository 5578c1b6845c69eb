"""A take becomes a file of another format, and is judged by its words and its voice."""

from __future__ import annotations

import asyncio
import io
from contextlib import asynccontextmanager

import av
import httpx
import numpy as np
import pytest
import soundfile
from fastapi import FastAPI

from backend.engines.ears import Ears
from backend.media.limits import MediaLimits
from backend.runtime.engine_thread import EngineThread
from backend.speech_api.errors import answer_errors
from backend.speech_api.formats import SpeechFile, SpeechFormat
from backend.speech_api.speaking import synthetic_tags
from backend.speech_api.take_routes import make_take_router
from backend.speech_api.voice_routes import make_voice_router
from backend.speech_api.whole_file import FileFormat
from backend.voices.library import VoiceLibrary
from backend.voices.watermark import watermarked
from tests.engines.embedded.doubles import FakeRecognizer
from tests.realtime.sounds import QUESTION
from tests.scripted_engine import RATE, ScriptedEngine, say, tone
from tests.serving import run_app

SAID = "What is the largest ocean on earth?"


@pytest.fixture
def engine():
    return ScriptedEngine(say(), words=SAID)


@pytest.fixture
def recognizer():
    return FakeRecognizer((SAID,))


@pytest.fixture
async def http(engine, recognizer, tmp_path):
    thread = EngineThread(lambda: engine)
    library = VoiceLibrary(tmp_path, tuple)

    @asynccontextmanager
    async def run_engine(_app):
        thread.start()
        yield
        thread.close()
        ears.close()
        library.close()

    app = FastAPI(lifespan=run_engine)
    ears = Ears(thread, recognizer)
    app.include_router(make_take_router(ears, library, 1000))
    app.include_router(make_voice_router(thread, ears, library, MediaLimits(300, 600, 2_000_000)))
    answer_errors(app)
    with run_app(app) as url:
        async with httpx.AsyncClient(base_url=f"{url}/v1/audio", timeout=30) as client:
            while (await client.get("/voices")).status_code == 503:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            yield client


def as_take(samples, rate=RATE, who="Piper, voice Amy"):
    """The WAV that the speech route streams."""
    file = SpeechFile(SpeechFormat.WAV, rate, synthetic_tags(who))
    return file.feed(samples, last=True)


def spoken_question():
    samples, rate = soundfile.read(QUESTION, dtype="float32")
    return as_take(samples, rate)


async def packed(http, data, kind):
    return await http.post("/takes/file", files={"take": data}, data={"response_format": kind})


async def judged(http, data, words=SAID, voice=""):
    fields = {"input": words, "voice": voice}
    return (await http.post("/takes/quality", files={"take": data}, data=fields)).json()


async def kept_voice(http):
    fields = {"name": "Anna", "ref_text": SAID, "consent": "Yes."}
    files = {"audio_sample": QUESTION.read_bytes()}
    return (await http.post("/voices", data=fields, files=files)).json()["id"]


@pytest.mark.parametrize("kind", list(FileFormat))
async def test_a_take_is_packed_with_its_sound_and_its_notes(http, kind):
    answer = await packed(http, as_take(tone(0.5)), kind)
    assert answer.headers["content-type"] == kind.media_type
    with av.open(io.BytesIO(answer.content)) as container:
        notes = {**container.metadata, **container.streams.audio[0].metadata}
        seconds = container.duration / av.time_base
    notes = {name.lower(): value for name, value in notes.items()}
    assert notes["artist"] == "Piper, voice Amy"
    assert notes["comment"] == "Synthetic speech"
    assert seconds == pytest.approx(0.5, abs=0.1)  # MP3 pads to whole packets


@pytest.mark.parametrize("kind", [FileFormat.WAV, FileFormat.FLAC])
async def test_a_file_holds_the_same_samples_with_the_mark_in_them(http, kind):
    take = spoken_question()
    answer = await packed(http, take, kind)
    written, rate = soundfile.read(io.BytesIO(answer.content), dtype="float32")
    sound, _ = soundfile.read(io.BytesIO(take), dtype="float32")
    assert rate == RATE
    assert not np.allclose(written, sound, atol=1e-3)
    assert np.allclose(written, watermarked(sound, RATE), atol=1e-4)


async def test_what_is_no_take_is_refused(http):
    answer = await packed(http, b"no sound at all", FileFormat.MP3)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == "This take cannot be read."
    stereo = io.BytesIO()
    soundfile.write(stereo, np.zeros((1000, 2)), RATE, format="WAV")
    assert (await packed(http, stereo.getvalue(), FileFormat.MP3)).status_code == 400
    for rate, kind in ((655_350, "FLAC"), (100, "WAV")):  # which unpack, or resample, to gigabytes
        bomb = io.BytesIO()
        soundfile.write(bomb, np.zeros(100_000), rate, format=kind)
        assert (await packed(http, bomb.getvalue(), FileFormat.MP3)).status_code == 400


async def test_a_take_that_says_all_words_has_no_errors(http):
    told = await judged(http, spoken_question())
    assert told["word_error_rate"] == 0
    assert told["heard"] == SAID
    assert told["similarity"] is None


async def test_wrong_words_are_named(http):
    told = await judged(http, spoken_question(), "What is the biggest ocean on earth?")
    assert told["word_error_rate"] == pytest.approx(1 / 7, abs=1e-3)
    assert (told["not_heard"], told["not_written"]) == (["biggest"], ["largest"])


async def test_the_take_of_a_copied_voice_is_compared_with_its_recording(http):
    voice = await kept_voice(http)
    same = await judged(http, spoken_question(), voice=voice)
    assert same["similarity"] > 0.95
    other = await judged(http, as_take(tone(2.0)), voice=voice)
    assert other["similarity"] < 0.5


async def test_the_words_are_heard_also_where_the_engine_only_speaks(http, engine):
    engine.hears_ahead = False
    told = await judged(http, spoken_question(), "What is the biggest ocean on earth?")
    assert (told["heard"], told["not_heard"]) == (SAID, ["biggest"])


async def test_nothing_is_said_about_words_that_nothing_here_hears(http, engine):
    engine.hears_ahead = False
    told = await judged(http, spoken_question(), "世界上最大的海洋是哪个？")
    assert (told["heard"], told["word_error_rate"]) == (None, None)


async def test_a_long_take_is_heard_piece_by_piece_and_others_in_between(http, engine):
    await judged(http, as_take(tone(40.0)))
    assert len(engine.heard) >= 3
    assert max(clip.duration_s for clip in engine.heard) <= 15
    assert sum(clip.duration_s for clip in engine.heard) == pytest.approx(40, abs=0.01)


async def test_more_words_than_a_text_may_have_are_refused(http):
    told = await judged(http, spoken_question(), "word " * 201)
    assert told["error"]["code"] == "text_too_long"


async def test_a_long_take_is_refused_with_the_limit(http):
    told = await judged(http, as_take(tone(121.0)))
    assert "2 min" in told["error"]["message"]


async def test_a_field_that_is_missing_is_named(http):
    answer = await http.post("/takes/quality", files={"take": spoken_question()})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "input")
