"""The official ``gradio_client`` has the lab speak, and checks, keeps and deletes voices."""

from __future__ import annotations

import time
from contextlib import closing

import av
import httpx
import numpy as np
import pytest
import soundfile
from gradio.utils import get_upload_folder
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError

from backend.contract.events import SpeechChunk
from backend.contract.voice import VoiceControls, VoiceMode
from backend.runtime.engine_thread import EngineThread
from backend.settings import Settings
from tests.realtime.sounds import speech
from tests.scripted_engine import RATE, ScriptedEngine, tone
from tests.serving import serve

CLONES = VoiceControls(
    modes=(VoiceMode.NAMED, VoiceMode.CLONE), speakers=("Vivian",), reference_s=(1, 30)
)
CONSENT = "I am the speaker."


async def recite(engine, turn):
    yield SpeechChunk(turn_id=turn.id, pcm=tone(0.5), sample_rate=RATE)
    if "break" in turn.script:
        raise ValueError("broken")


@pytest.fixture(scope="module")
def engine():
    return ScriptedEngine(recite, voice=CLONES, recites=True)


@pytest.fixture(scope="module")
def url(engine, tmp_path_factory):
    data = tmp_path_factory.mktemp("data")
    settings = Settings(_env_file=None, data_dir=data, max_script_chars=100)
    with serve(EngineThread(lambda: engine), settings) as address:
        with httpx.Client(base_url=address) as http:
            while http.get("/v1/audio/voices").status_code == 503:
                time.sleep(0.02)
        yield address


@pytest.fixture(scope="module")
def client(url):
    with closing(Client(url, verbose=False)) as gradio:
        yield gradio


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    """A file of its own: Gradio keeps uploads by content, also those of other apps beside it."""
    path = tmp_path_factory.mktemp("clips") / "question.wav"
    sound = speech() + np.random.default_rng().normal(0, 1e-4, len(speech()))
    soundfile.write(path, sound, 16_000)
    return handle_file(str(path))


def ask(client, endpoint, *values, **named):
    return client.predict(*values, api_name=f"/{endpoint}", **named)


def names(client):
    return [voice["name"] for voice in ask(client, "voices")]


def test_clients_are_told_of_the_endpoints_and_of_no_others(client):
    told = client.view_api(return_format="dict")["named_endpoints"]
    kept = ("check_voice", "keep_voice", "change_voice", "delete_voice", "export_voices")
    assert set(told) == {f"/{name}" for name in ("speak", "voices", *kept, "import_voices")}
    speak = {one["parameter_name"]: one for one in told["/speak"]["parameters"]}
    assert list(speak)[:2] == ["text", "voice"]
    assert speak["speed"]["python_type"]["type"] == "float"
    assert speak["format"]["parameter_default"] == "mp3"
    assert told["/speak"]["returns"][0]["python_type"]["type"] == "filepath"
    assert "as it is" in told["/speak"]["description"]


@pytest.mark.parametrize("kind", ["mp3", "flac", "wav"])
def test_a_text_is_spoken_into_a_file_that_says_what_it_is(client, engine, kind):
    path = ask(
        client, "speak", "Hello there.", voice="vivian", seed=7, temperature=0.5, format=kind
    )
    turn = engine.runs[-1]
    assert (turn.script, turn.settings.seed) == ("Hello there.", 7)
    assert turn.settings.temperature == 0.5
    assert turn.settings.voice.speaker == "Vivian"
    with av.open(path) as container:
        notes = {**container.metadata, **container.streams[0].metadata}
        samples = sum(frame.samples for frame in container.decode(audio=0))
        assert samples / container.streams[0].rate == pytest.approx(0.5, abs=0.12)
    assert "synthetic speech" in str(notes).lower()


def test_a_wav_file_says_how_long_it_is(client):
    path = ask(client, "speak", "Hello there.", format="wav")
    assert soundfile.info(path).duration == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("", {}, "at least 1 character"),
        ("a" * 101, {}, "the limit is 100"),
        ("Hello.", {"voice": "nobody"}, "There is no voice called nobody. Choose from: Vivian"),
        ("Hello.", {"speed": 2.0}, "speaks at one speed"),
        ("Hello.", {"speed": 9.0}, "less than or equal to 4"),
        ("Hello.", {"format": "midi"}, "'wav', 'flac' or 'mp3'"),
        ("Hello.", {"language": "English"}, "language"),
        ("This will break.", {}, "went wrong"),
    ],
)
def test_what_cannot_be_spoken_is_refused_in_words_and_the_next_is_spoken(
    client, text, options, words
):
    with pytest.raises(AppError, match=words):
        ask(client, "speak", text, **options)
    assert ask(client, "speak", "Hello.")


def test_a_voice_is_checked_kept_spoken_with_and_deleted(client, engine, clip):
    checked = ask(client, "check_voice", clip, "scripted words")
    assert checked["usable"]
    assert checked["heard"] == "scripted words."
    kept = ask(client, "keep_voice", "Anna", clip, "scripted words", CONSENT, start_s=0, end_s=2)
    assert names(client) == ["Vivian", "Anna"]
    assert ask(client, "speak", "Hello.", voice="Anna", language="de")
    used = engine.runs[-1].settings.voice
    assert (used.mode, used.reference_text, used.language) == (
        VoiceMode.CLONE,
        "scripted words",
        "de",
    )
    assert used.reference_audio.duration_s == pytest.approx(2.0, abs=0.01)
    assert ask(client, "delete_voice", kept["id"])["deleted"]
    assert names(client) == ["Vivian"]
    with pytest.raises(AppError, match="does not exist any more"):
        ask(client, "delete_voice", kept["id"])


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (("Anna", "words"), "Confirm that whoever speaks"),
        (("Anna", "", CONSENT), "Write the words that are spoken"),
        ((" vivian", "words", CONSENT), "The engine has a voice of its own called vivian"),
        (("n" * 65, "words", CONSENT), "name: "),
        (("Anna", "words", CONSENT, False, "", "auto", 5.0, 99.0), "outside the sample"),
        (("Anna", "words", CONSENT, False, "", "auto", -1.0, 2.0), "start_s"),
    ],
)
def test_a_voice_that_could_not_be_used_is_refused_in_words(client, clip, values, words):
    name, *rest = values
    with pytest.raises(AppError, match=words):
        ask(client, "keep_voice", name, clip, *rest)
    assert names(client) == ["Vivian"]


def test_a_kept_voice_is_renamed_shared_and_taken_elsewhere_in_a_zip(client, url, clip):
    secret = {"X-Omni-Owner": "d" * 32}
    with closing(Client(url, verbose=False, headers=secret)) as own:
        kept = ask(own, "keep_voice", "Anna", clip, "scripted words", CONSENT)
        changed = ask(own, "change_voice", kept["id"], name="Maria", tags=["calm", "calm", "de"])
        assert (changed["name"], changed["tags"]) == ("Maria", ["calm", "de"])
        assert names(client) == ["Vivian"]
        ask(own, "change_voice", kept["id"], shared=True)
        assert names(client) == ["Vivian", "Maria"]
        archive = ask(own, "export_voices")
        ask(own, "delete_voice", kept["id"])
        told = ask(own, "import_voices", handle_file(archive))
        assert [one["name"] for one in told["kept"]] == ["Maria"]
        ask(own, "delete_voice", told["kept"][0]["id"])


def test_a_speaker_of_the_engine_is_kept_under_a_name_of_ones_own(client):
    kept = ask(client, "keep_voice", "My Vivian", kind="named", speaker="Vivian")
    assert names(client) == ["Vivian", "My Vivian"]
    ask(client, "delete_voice", kept["id"])
    with pytest.raises(AppError, match="'clone'"):
        ask(client, "keep_voice", "My Vivian", kind="borrowed", speaker="Vivian")


def test_a_client_with_a_secret_has_voices_of_its_own(url, client, clip):
    secret = {"X-Omni-Owner": "c" * 32}
    with closing(Client(url, verbose=False, headers=secret)) as own:
        kept = ask(own, "keep_voice", "Anna", clip, "scripted words", CONSENT)
        assert names(own) == ["Vivian", "Anna"]
        assert names(client) == ["Vivian"]
        ask(own, "delete_voice", kept["id"])


def answer_to(url, endpoint, *data, headers=None):
    """The last line that a hand-made request is answered with."""
    route = f"/gradio_api/call/{endpoint}"
    with httpx.Client(base_url=url, timeout=30, headers=headers) as http:
        event = http.post(route, json={"data": data}).json()["event_id"]
        return http.get(f"{route}/{event}").text


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "/nowhere/at/all", f"{get_upload_folder()}/../../../etc/passwd"]
)
@pytest.mark.parametrize("meta", [{}, {"meta": {"_type": "gradio.FileData"}}])
def test_only_uploads_are_read(url, path, meta):
    answered = answer_to(url, "check_voice", {"path": path} | meta, "", False)
    assert answered.startswith("event: error")
    assert "cannot be read" not in answered


def test_no_other_web_page_may_use_them(url):
    evil = answer_to(url, "voices", headers={"Origin": "http://evil.example"})
    assert evil.startswith("event: error")
    assert "Vivian" in answer_to(url, "voices", headers={"Origin": url})
