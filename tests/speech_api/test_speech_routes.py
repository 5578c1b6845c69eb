"""The official ``openai`` package has the app speak, and other clients keep voices."""

from __future__ import annotations

import asyncio
import base64
import io
from contextlib import asynccontextmanager

import av
import httpx
import numpy as np
import pytest
import soundfile
from fastapi import FastAPI
from openai import (
    APIConnectionError,
    AsyncOpenAI,
    BadRequestError,
    InternalServerError,
    RateLimitError,
)

from backend.contract.errors import TurnRefused
from backend.contract.events import SpeechChunk
from backend.contract.voice import VoiceControls, VoiceMode
from backend.conversation.registry import SessionRegistry
from backend.engines.ears import Ears
from backend.media.limits import MediaLimits
from backend.runtime.engine_thread import EngineThread
from backend.speech_api.errors import answer_errors
from backend.speech_api.formats import SpeechFormat
from backend.speech_api.request import DEFAULT_VOICE
from backend.speech_api.routes import make_speech_router
from backend.speech_api.use_routes import make_use_router
from backend.speech_api.voice_routes import make_voice_router
from backend.voices.library import VoiceLibrary
from tests.engines.embedded.doubles import FakeRecognizer
from tests.realtime.sounds import QUESTION
from tests.scripted_engine import RATE, ScriptedEngine, die, hang, tone
from tests.serving import run_app

MAX_CHARS = 2000
VOICES = VoiceControls(
    modes=(VoiceMode.NAMED, VoiceMode.CLONE), speakers=("Vivian", "Ryan"), changes_speed=True
)
TEXT = "One two three."


async def recite(engine, turn):
    """A tone of 0.2 s for each word, a word at a time."""
    if "refused" in turn.script:
        raise TurnRefused("nothing_to_say", "There is nothing to say.")
    words = turn.script.split()
    for piece in np.array_split(tone(0.2 * len(words)), len(words)):
        yield SpeechChunk(turn_id=turn.id, pcm=piece, sample_rate=RATE)
        await asyncio.sleep(0)
    if "break" in turn.script:
        raise ValueError("broken")


@pytest.fixture
def engine():
    return ScriptedEngine(recite, voice=VOICES, recites=True)


@pytest.fixture
def url(engine, tmp_path):
    thread = EngineThread(lambda: engine, max_waiting=1)
    library = VoiceLibrary(tmp_path, lambda: (DEFAULT_VOICE, *VOICES.speakers))

    @asynccontextmanager
    async def run_engine(_app):
        thread.start()
        yield
        thread.close()
        library.close()

    app = FastAPI(lifespan=run_engine)
    app.include_router(make_speech_router(thread, library, MAX_CHARS))
    app.include_router(
        make_voice_router(
            thread, Ears(thread, FakeRecognizer()), library, MediaLimits(300, 600, 2_000_000)
        )
    )
    app.include_router(make_use_router(thread, library, SessionRegistry(thread.submit)))
    answer_errors(app)
    with run_app(app) as address:
        yield address


@pytest.fixture
async def http(url):
    async with httpx.AsyncClient(base_url=f"{url}/v1/audio", timeout=30) as client:
        while (await client.get("/voices")).status_code == 503:  # noqa: ASYNC110 - over the wire
            await asyncio.sleep(0.02)
        yield client


@pytest.fixture
async def client(url, http):
    async with AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as openai:
        yield openai


async def spoken(client, text=TEXT, **options):
    options = {"model": "any", "voice": "default", "response_format": "pcm"} | options
    return (await client.audio.speech.create(input=text, **options)).content


def decoded(data):
    """The sound in a file, as mono float, and its rate."""
    with av.open(io.BytesIO(data)) as container:
        frames = list(container.decode(audio=0))
    sound = np.concatenate([frame.to_ndarray().reshape(-1) for frame in frames])
    scale = 32768 if sound.dtype == np.int16 else 2**31 if sound.dtype == np.int32 else 1
    return sound / scale, frames[0].sample_rate


async def test_the_words_are_spoken_as_they_are(client, engine):
    sound = np.frombuffer(await spoken(client), "<i2") / 32767
    assert np.allclose(sound, tone(0.6), atol=1e-4)
    assert [turn.script for turn in engine.runs] == [TEXT]


@pytest.mark.parametrize("kind", list(SpeechFormat))
async def test_every_format_holds_the_same_sound(client, kind):
    data = await spoken(client, response_format=kind)
    if kind is SpeechFormat.PCM:
        sound, rate = np.frombuffer(data, "<i2") / 32767, RATE
    else:
        sound, rate = decoded(data)
    assert len(sound) / rate == pytest.approx(0.6, abs=0.12)  # coders pad to whole packets
    middle = sound[int(0.2 * rate) : int(0.5 * rate)]
    spectrum = np.abs(np.fft.rfft(middle))
    assert np.fft.rfftfreq(len(middle), 1 / rate)[spectrum.argmax()] == pytest.approx(440, abs=5)
    assert np.sqrt(np.mean(middle**2)) == pytest.approx(0.3 / np.sqrt(2), rel=0.1)


async def test_files_say_that_nobody_spoke(client):
    for kind in ("mp3", "flac", "opus"):
        with av.open(io.BytesIO(await spoken(client, response_format=kind))) as container:
            notes = {**container.metadata, **container.streams[0].metadata}
        assert "synthetic speech" in str(notes).lower(), kind
    assert b"Synthetic speech" in (await spoken(client, response_format="wav"))[:300]


async def test_sound_comes_while_it_is_still_being_made(client, engine):
    gate = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def slowly(engine, turn):
        yield SpeechChunk(turn_id=turn.id, pcm=tone(0.5), sample_rate=RATE)
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(gate.wait(), loop))
        yield SpeechChunk(turn_id=turn.id, pcm=tone(0.5), sample_rate=RATE)

    engine.script = slowly
    streaming = client.audio.speech.with_streaming_response
    async with streaming.create(
        model="any", voice="default", input=TEXT, response_format="pcm"
    ) as response:
        pieces = response.iter_bytes(2 * RATE // 4)
        assert len(await asyncio.wait_for(anext(pieces), 10)) > 0
        gate.set()
        rest = [piece async for piece in pieces]
    assert sum(map(len, rest)) > RATE


async def test_sound_comes_in_events_where_that_is_asked_for(http):
    body = {"input": TEXT, "response_format": "pcm", "stream_format": "sse"}
    answered = await http.post("/speech", json=body)
    assert answered.headers["content-type"].startswith("text/event-stream")
    events = [line[6:] for line in answered.text.splitlines() if line]
    assert '"speech.audio.done"' in events[-1]
    sound = b"".join(base64.b64decode(event.split('"audio": "')[1][:-2]) for event in events[:-1])
    assert len(sound) == pytest.approx(2 * 0.6 * RATE, abs=4)


@pytest.mark.parametrize(
    ("options", "param"),
    [
        ({"text": ""}, "input"),
        ({"text": "a" * (MAX_CHARS + 1)}, "input"),
        ({"voice": "nobody"}, "voice"),
        ({"speed": 9.0}, "speed"),
        ({"response_format": "midi"}, "response_format"),
        ({"text": "to be refused"}, None),
    ],
)
async def test_what_cannot_be_spoken_is_refused_and_the_next_is_spoken(client, options, param):
    with pytest.raises(BadRequestError) as refusal:
        await spoken(client, **options)
    assert refusal.value.param == param
    assert refusal.value.message
    assert await spoken(client)


async def test_an_engine_that_fails_is_an_error_and_not_silence(client, engine):
    engine.script = die
    with pytest.raises(InternalServerError):
        await spoken(client)


async def test_a_file_that_breaks_off_is_never_taken_for_whole(client):
    with pytest.raises(APIConnectionError):
        await spoken(client, "These will break", response_format="mp3")
    assert await spoken(client)


async def test_who_waits_too_long_in_line_is_told(client, engine, until):
    engine.script = hang
    first = [asyncio.create_task(spoken(client)) for _ in range(2)]
    await until(lambda: engine.running == 1)
    await asyncio.sleep(0.1)
    with pytest.raises(RateLimitError):
        await spoken(client)
    for task in first:
        task.cancel()


async def test_the_engine_stops_when_the_client_leaves(client, engine, until):
    engine.script = hang
    asked = asyncio.create_task(spoken(client))
    await until(lambda: engine.running == 1)
    asked.cancel()
    await until(lambda: engine.running == 0)
    assert engine.stopped == [turn.id for turn in engine.runs]


def a_sample(seconds=3.0):
    file = io.BytesIO()
    soundfile.write(file, tone(seconds, 200), RATE, format="WAV")
    return {"audio_sample": ("sample.wav", file.getvalue(), "audio/wav")}


FIELDS = {"name": "Anna", "consent": "I am the speaker.", "ref_text": "Hello there."}


async def test_a_voice_is_kept_listed_spoken_with_and_deleted(http, client, engine):
    kept = (await http.post("/voices", data=FIELDS, files=a_sample())).json()
    listed = (await http.get("/voices")).json()["voices"]
    assert [voice["name"] for voice in listed] == ["Vivian", "Ryan", "Anna"]
    for voice in ("anna", kept["id"]):
        assert await spoken(client, voice=voice)
        used = engine.runs[-1].settings.voice
        assert (used.mode, used.reference_text) == (VoiceMode.CLONE, "Hello there.")
        assert used.reference_audio.duration_s == pytest.approx(3.0, abs=0.01)
    file = await spoken(client, voice=kept["id"], response_format="flac")
    with av.open(io.BytesIO(file)) as container:
        assert {"scripted, voice Anna", "Synthetic speech"} <= set(container.metadata.values())
    await spoken(client, voice="anna", instructions="warm", extra_body={"language": "de"})
    used = engine.runs[-1].settings.voice
    assert (used.style, used.language) == ("warm", "de")
    assert (await http.delete(f"/voices/{kept['id']}")).json()["deleted"]
    with pytest.raises(BadRequestError):
        await spoken(client, voice="anna")


@pytest.mark.parametrize(
    ("changed", "files", "code"),
    [
        ({"ref_text": " "}, a_sample(), "words_missing"),
        ({"consent": ""}, a_sample(), "consent_missing"),
        ({"name": " vivian"}, a_sample(), "name_reserved"),
        ({"name": "n" * 65}, a_sample(), "bad_request"),
        ({}, {}, "clip_missing"),
        ({"kind": "named"}, {}, "speaker_missing"),
        ({"kind": "design", "instructions": " "}, {}, "style_missing"),
        ({"kind": "other"}, {}, "bad_request"),
        ({}, {"audio_sample": ("a.wav", b"no sound", "audio/wav")}, "audio_unreadable"),
    ],
)
async def test_a_voice_that_could_not_be_used_is_refused(http, changed, files, code):
    answered = await http.post("/voices", data=FIELDS | changed, files=files)
    assert answered.status_code == 400
    assert answered.json()["error"]["code"] == code
    assert len((await http.get("/voices")).json()["voices"]) == 2


@pytest.mark.parametrize(("speaker", "usable"), [(" ryan", True), ("Nobody", False)])
async def test_a_kept_speaker_is_spoken_with_only_where_the_engine_has_it(
    http, client, speaker, usable
):
    fields = {"name": "Mine", "kind": "named", "speaker": speaker, "instructions": "calm"}
    assert (await http.post("/voices", data=fields)).status_code == 200
    (listed,) = [one for one in (await http.get("/voices")).json()["voices"] if not one["built_in"]]
    assert listed["usable"] is usable
    if usable:
        assert await spoken(client, voice="Mine")
    else:
        with pytest.raises(BadRequestError, match="of the speaker Nobody"):
            await spoken(client, voice="Mine")


async def test_nobody_takes_the_name_of_the_default_voice(http):
    answered = await http.post("/voices", data=FIELDS | {"name": " Default"}, files=a_sample())
    assert answered.json()["error"]["code"] == "name_reserved"


SECRET = {"X-Omni-Owner": "a" * 32}


async def test_a_voice_of_one_page_is_no_other_persons(http):
    kept = (await http.post("/voices", data=FIELDS, files=a_sample(), headers=SECRET)).json()
    address = f"/voices/{kept['id']}"
    assert len((await http.get("/voices")).json()["voices"]) == 2
    for answered in (
        await http.get(f"{address}/sample"),
        await http.patch(address, json={"name": "Mine"}),
        await http.delete(address),
    ):
        assert answered.status_code == 404
    await http.patch(address, json={"shared": True}, headers=SECRET)
    (seen,) = [one for one in (await http.get("/voices")).json()["voices"] if not one["built_in"]]
    assert (seen["name"], seen["own"], seen["usable"]) == ("Anna", False, True)
    assert (await http.post("/speech", json={"input": TEXT, "voice": "Anna"})).status_code == 200


async def test_a_conversation_gets_only_voices_that_its_person_may_use(http):
    kept = (await http.post("/voices", data=FIELDS, files=a_sample(), headers=SECRET)).json()
    address, session = f"/voices/{kept['id']}/conversation", {"X-Omni-Session": "b" * 32}
    assert (await http.put(address, headers=session)).status_code == 404
    assert (await http.put(address, headers=SECRET | {"X-Omni-Session": "b"})).status_code == 400
    used = await http.put(address, headers=SECRET | session)
    assert used.json() == {"id": kept["id"], "name": "Anna"}
    assert (await http.delete(address, headers=session)).status_code == 200


async def test_a_voice_is_renamed_and_heard(http):
    kept = (await http.post("/voices", data=FIELDS, files=a_sample())).json()
    renamed = await http.patch(f"/voices/{kept['id']}", json={"name": "Anne"})
    assert renamed.json()["name"] == "Anne"
    sample = (await http.get(f"/voices/{kept['id']}/sample")).content
    samples, rate = soundfile.read(io.BytesIO(sample))
    assert len(samples) / rate == pytest.approx(3.0, abs=0.01)
    assert (await http.patch(f"/voices/{kept['id']}", json={"name": "Ryan"})).status_code == 400


async def test_only_the_part_that_is_named_is_kept(http):
    part = {"start_s": "0.5", "end_s": "2.0"}
    kept = (await http.post("/voices", data=FIELDS | part, files=a_sample())).json()
    samples, rate = soundfile.read(
        io.BytesIO((await http.get(f"/voices/{kept['id']}/sample")).content)
    )
    assert len(samples) / rate == pytest.approx(1.5, abs=0.01)
    beyond = await http.post("/voices", data=FIELDS | {"end_s": "9"}, files=a_sample())
    assert beyond.json()["error"]["code"] == "bad_part"


async def test_a_clip_is_checked_before_it_is_copied(http):
    checked = (await http.post("/voices/check", files=a_sample())).json()
    assert not checked["usable"]  # it is a tone, and nobody speaks
    assert checked["findings"][0]["severity"] == "stop"
    assert max(checked["outline"]) == pytest.approx(0.3, abs=0.01)
    question = {"audio_sample": ("q.wav", QUESTION.read_bytes(), "audio/wav")}
    body = {"ref_text": "scripted words"}
    checked = (await http.post("/voices/check", data=body, files=question)).json()
    assert checked["usable"], checked["findings"]
    assert checked["heard"] == "scripted words."
    assert 0 <= checked["kept_s"][0] < checked["kept_s"][1] <= checked["duration_s"]


async def test_a_file_of_many_channels_is_told_that_they_were_mixed(http):
    sound, rate = soundfile.read(QUESTION)
    file = io.BytesIO()
    soundfile.write(file, np.repeat(sound[:, None], 6, 1), rate, format="WAV")
    sample = {"audio_sample": ("q.wav", file.getvalue(), "audio/wav")}
    checked = (await http.post("/voices/check", files=sample)).json()
    assert "many_channels" in [finding["code"] for finding in checked["findings"]]


async def test_too_much_is_refused_before_it_is_read(url, http):
    """The answer to a body of which nothing but its length has been sent."""
    port = int(url.rsplit(":", 1)[1])
    for method, path, length, status in (
        ("POST", "voices", "9000000", b"413"),
        ("PATCH", "voices/x", "9000000", b"413"),
        ("POST", "speech", "9000000", b"413"),
        ("POST", "voices", "", b"411"),
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        size = f"Content-Length: {length}" if length else "Transfer-Encoding: chunked"
        head = f"{method} /v1/audio/{path} HTTP/1.1\r\nHost: a\r\n{size}\r\n\r\n"
        writer.write(head.encode())
        told = await asyncio.wait_for(reader.readline(), 10)
        writer.close()
        assert told.split()[1] == status, path
    answered = await http.post("/voices", data=FIELDS, files=a_sample(60))
    assert answered.status_code == 413


async def test_no_other_web_page_may_use_the_app(http):
    for origin, status in (("http://evil.example", 403), (str(http.base_url)[:-10], 200)):
        answered = await http.post("/speech", json={"input": TEXT}, headers={"Origin": origin})
        assert answered.status_code == status, origin
