"""Texts spoken by vLLM-Omni's own server of Qwen3-TTS, on a CPU, with tiny random models."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec

import httpx
import numpy as np
import pytest
import soundfile

from backend.contract.events import Outcome, ReplyText, SpeechChunk, StageStarted
from backend.contract.media import AudioClip
from backend.contract.turn import Turn, TurnSettings
from backend.contract.voice import VoiceMode, VoiceSpec
from backend.engines.choose import engine_factory
from backend.engines.omni.voice_fields import as_data_uri
from backend.runtime.engine_thread import EngineThread
from backend.settings import Settings
from tests.omni.conftest import Omni, Told
from tests.realtime.sounds import QUESTION, RATE, speech
from tests.serving import serve
from tests.tiny_models.serving import Served, serve_speech

pytestmark = [
    pytest.mark.omni,
    pytest.mark.skipif(find_spec("vllm_omni") is None, reason="vLLM-Omni is not installed"),
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.timeout(900),
]

WORDS = "Good morning to everybody."
SAID = "What is the largest ocean on earth?"
CLONE = VoiceSpec(reference_audio=AudioClip(speech(), RATE), reference_text=SAID)


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Served]:
    with serve_speech(tmp_path_factory.mktemp("remote-speech")) as served:
        yield served


@pytest.fixture(scope="module")
def remote(server) -> Iterator[Omni]:
    """The app on the remote engine, as the settings make it."""
    settings = Settings(_env_file=None, engine="remote", url=server.url)
    thread = EngineThread(engine_factory(settings), stall_timeout_s=120)
    with serve(thread, settings) as url:
        yield Omni(url, thread)


async def say(remote: Omni, voice: VoiceSpec = CLONE, script: str = WORDS, seed: int = 1) -> Told:
    return await remote.ask(script=script, settings=TurnSettings(voice=voice, seed=seed))


async def bare(server: Served, words: str, **changes) -> bytes:
    """What the server gives to one who asks it without the app."""
    asked = {
        "input": words,
        "task_type": "Base",
        "language": "Auto",
        "ref_audio": as_data_uri(CLONE.reference_audio),
        "ref_text": SAID,
        "response_format": "pcm",
        "stream_format": "audio",
        "seed": 1,
    }
    async with httpx.AsyncClient(base_url=server.url, timeout=120) as client:
        answer = await client.post("/v1/audio/speech", json=asked | changes)
    assert answer.status_code == 200, answer.text
    return answer.content


async def broken_off(server: Served) -> float:
    """How many texts the server has stopped speaking before their end."""
    async with httpx.AsyncClient(base_url=server.url) as client:
        lines = (await client.get("/metrics")).text.splitlines()
    name = "vllm_omni:speech_stream_aborted_total"
    return sum(float(line.split()[-1]) for line in lines if line.startswith(name))


async def test_the_server_is_found_out_to_copy_voices_and_to_answer_nothing(remote, server):
    await remote.until_ready()
    known = remote.thread.status.capabilities
    assert server.url in known.summary
    assert known.recites
    assert not known.answers
    assert known.voice.modes == (VoiceMode.CLONE,)
    assert known.voice.speakers == ()


async def test_a_copied_voice_is_heard_as_the_server_makes_it(remote, server):
    expected = np.frombuffer(await bare(server, WORDS), "<i2")
    told = await say(remote)
    assert told.end.outcome is Outcome.ANSWERED
    assert told.reply == WORDS
    assert [event.stage for event in told.of(StageStarted)] == ["speak"]
    assert len(told.of(SpeechChunk)) > 1
    assert len(told.sound) == len(expected) >= 29 * 1920
    assert np.array_equal(told.sound, expected / np.float32(32768))


async def test_a_seed_and_a_temperature_draw_another_take(remote):
    settings = TurnSettings(voice=CLONE, seed=1)
    takes = [
        (await remote.ask(script=WORDS, settings=changed)).sound[: 29 * 1920]
        for changed in (settings, replace(settings, seed=2), replace(settings, temperature=0.2))
    ]
    assert not np.array_equal(takes[0], takes[1])
    assert not np.array_equal(takes[0], takes[2])


async def test_the_sound_of_a_voice_is_copied_without_words(remote, server):
    alone = replace(CLONE, reference_text="", x_vector_only=True)
    told = await say(remote, alone)
    expected = await bare(server, WORDS, ref_text=None, x_vector_only_mode=True)
    assert len(told.sound) == len(expected) // 2


async def test_a_long_text_is_spoken_to_its_end(remote):
    script = " ".join(f"This is sentence number {number}." for number in range(20))
    told = await say(remote, script=script)
    parts = [event.delta for event in told.of(ReplyText)]
    assert len(parts) == 2
    assert "".join(parts) == script
    assert len(told.sound) >= 2 * 29 * 1920


async def test_what_the_server_does_not_take_is_told_and_the_next_text_is_spoken(remote):
    refused = await say(remote, replace(CLONE, language="ko"))
    assert refused.end.outcome is Outcome.FAILED
    assert refused.end.refusal == "server_refused"
    assert "Invalid language 'Korean'" in refused.end.message
    assert len((await say(remote)).sound)


async def test_stopping_stops_the_server_too(remote, server):
    script = " ".join(f"This is sentence number {number}." for number in range(200))
    turn = Turn("tests", 0, script=script, settings=TurnSettings(voice=CLONE))
    before = await broken_off(server)
    stream = remote.thread.submit(turn)
    told = []
    async for event in stream:
        told.append(event)
        if isinstance(event, SpeechChunk) and not stream.cancelled:
            stream.cancel()
    assert told[-1].outcome is Outcome.CANCELLED
    for _ in range(100):
        if await broken_off(server) > before:
            break
        await asyncio.sleep(0.1)
    assert await broken_off(server) == before + 1
    assert len((await say(remote)).sound)


async def test_a_kept_voice_speaks_over_the_apps_own_speech_route(remote, server):
    async with httpx.AsyncClient(base_url=f"{remote.url}/v1/audio", timeout=120) as client:
        fields = {"name": "Anna", "ref_text": SAID, "consent": "A synthetic voice."}
        sample = {"audio_sample": QUESTION.read_bytes()}
        kept = await client.post("/voices", data=fields, files=sample)
        assert kept.status_code == 200, kept.text
        asked = {"input": WORDS, "voice": "Anna", "response_format": "pcm", "seed": 1}
        answer = await client.post("/speech", json=asked)
        sample = await client.get(f"/voices/{kept.json()['id']}/sample")
    assert answer.status_code == 200, answer.text
    copied = AudioClip(*soundfile.read(io.BytesIO(sample.content), dtype="float32"))
    expected = await bare(server, WORDS, ref_audio=as_data_uri(copied))
    assert len(answer.content) == len(expected) > 29 * 1920 * 2
