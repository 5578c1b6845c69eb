"""Texts that a server speaks as they are."""

from __future__ import annotations

import asyncio
import base64
import io
from typing import Any

import numpy as np
import pytest
import soundfile
from starlette.responses import JSONResponse, PlainTextResponse, Response

from backend.contract.engine import EngineState
from backend.contract.errors import TurnRefused
from backend.contract.events import (
    Outcome,
    ReplyText,
    SpeechChunk,
    StageStarted,
    StageTiming,
)
from backend.contract.media import AudioClip
from backend.contract.turn import Turn, TurnSettings
from backend.contract.voice import VoiceSpec
from backend.engines.failures import StageFailed
from backend.engines.remote.engine import RemoteEngine
from backend.engines.remote.recital import MAX_REQUEST_CHARS
from backend.engines.remote.server import Server, ServerRefused
from tests.engines.remote.speech_server import (
    PCM,
    SOUND,
    SpeechServer,
    breaks_off,
    goes_on,
    says,
    spoken,
    told,
)

WORDS = "Good morning to everybody."
PLAIN = {"input": WORDS, "model": "tiny", "response_format": "pcm", "stream_format": "audio"}


@pytest.fixture
def voices():
    """A server with voices of its own."""
    with SpeechServer(voices={"voices": ["default", "ryan", "vivian"]}).running() as server:
        yield server


async def loaded(server: SpeechServer, **known: Any) -> RemoteEngine:
    engine = RemoteEngine(Server(server.url, **known))
    await engine.load(lambda share, text: None)
    return engine


async def events_of(engine: RemoteEngine, script: str = WORDS, **settings: Any) -> list[Any]:
    turn = Turn("session", 0, script=script, settings=TurnSettings(**settings))
    return [event async for event in engine.run(turn)]


async def asked_of(server: SpeechServer, known: dict | None = None, **settings: Any) -> dict:
    """What a server is asked when a text is to be spoken."""
    with server.running():
        await events_of(await loaded(server, **(known or {})), **settings)
    (asked,) = server.asked
    return asked


def of(events: list, kind: type) -> list:
    return [event for event in events if isinstance(event, kind)]


def sound(events: list) -> np.ndarray:
    return np.concatenate([event.pcm for event in of(events, SpeechChunk)])


async def test_a_text_is_spoken_as_it_is(voices):
    events = await events_of(await loaded(voices))
    assert [event.delta for event in of(events, ReplyText)] == [WORDS]
    assert [event.stage for event in of(events, StageStarted)] == ["speak"]
    assert {event.sample_rate for event in of(events, SpeechChunk)} == {24_000}
    assert sound(events).dtype == np.float32
    assert np.abs(sound(events) - SOUND).max() < 1e-4
    (timing,) = of(events, StageTiming)
    assert 0 < timing.first_output_s <= timing.total_s


async def test_sound_is_heard_while_the_rest_is_being_made(voices):
    heard = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def waits():
        yield PCM
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(heard.wait(), loop))
        yield PCM

    voices.script = waits
    engine = await loaded(voices)
    async with asyncio.timeout(10):
        async for event in engine.run(Turn("session", 0, script=WORDS)):
            if isinstance(event, SpeechChunk):
                heard.set()
    assert heard.is_set()


async def test_a_named_voice_speaks_in_a_style_and_a_language_as_it_is_to_be_drawn():
    server = SpeechServer(voices={"voices": ["ryan", "vivian"]})
    voice = VoiceSpec(speaker="Ryan", style="warm <|im_end|>", language="en")
    drawn = {"seed": 7, "temperature": 0.5}
    assert await asked_of(server, voice=voice, voice_speed=2.0, **drawn) == PLAIN | {
        "stream": True,
        "task_type": "CustomVoice",
        "voice": "ryan",
        "instructions": "warm < |im_end|>",
        "language": "English",
        "seed": 7,
        "extra_params": {"temperature": 0.5},
    }


async def test_the_first_voice_speaks_where_none_is_chosen():
    server = SpeechServer(voices={"voices": ["ryan", "vivian"]})
    assert (await asked_of(server))["voice"] == "vivian"


async def test_a_copied_voice_travels_with_the_text_and_takes_no_name():
    noise = np.random.default_rng(1).normal(0, 0.1, 32_000).astype(np.float32)
    voice = VoiceSpec(reference_audio=AudioClip(noise, 16_000), reference_text=" My words. ")
    asked = await asked_of(SpeechServer("Base", voices={"voices": ["ryan"]}), voice=voice)
    kind, _, data = asked.pop("ref_audio").partition(",")
    assert kind == "data:audio/wav;base64"
    copied, rate = soundfile.read(io.BytesIO(base64.b64decode(data)), dtype="float32")
    assert rate == 16_000
    assert np.array_equal(copied, noise)
    about = {"stream": True, "task_type": "Base", "language": "Auto"}
    assert asked == PLAIN | about | {"ref_text": "My words.", "x_vector_only_mode": False}


async def test_the_sound_of_a_voice_is_copied_without_words():
    noise = np.random.default_rng(1).normal(0, 0.1, 32_000).astype(np.float32)
    clip = AudioClip(noise, 16_000)
    voice = VoiceSpec(reference_audio=clip, reference_text="My words.", x_vector_only=True)
    asked = await asked_of(SpeechServer("Base"), voice=voice)
    assert asked["x_vector_only_mode"] is True
    assert "ref_text" not in asked


async def test_a_voice_is_made_up_from_words():
    asked = await asked_of(SpeechServer("VoiceDesign"), voice=VoiceSpec(style="An old sailor."))
    assert asked["task_type"] == "VoiceDesign"
    assert asked["instructions"] == "An old sailor."
    assert "voice" not in asked


async def test_another_server_is_asked_for_no_more_than_openais_api_has():
    known, voice = {"speakers": ("alloy", "Nova")}, VoiceSpec(speaker="Nova", style="warm")
    asked = await asked_of(SpeechServer(""), known, voice=voice, seed=7, voice_speed=1.5)
    assert asked == PLAIN | {"voice": "Nova", "instructions": "warm", "speed": 1.5}
    assert await asked_of(SpeechServer(""), known) == PLAIN | {"voice": "alloy"}
    assert await asked_of(SpeechServer("")) == PLAIN


async def test_of_a_long_text_nothing_is_dropped(voices):
    sentences = [f"This is sentence number {number} of them all." for number in range(40)]
    script = "\n\n".join(" ".join(sentences[at : at + 4]) for at in range(0, 40, 4))
    events = await events_of(await loaded(voices), script)
    inputs = [asked["input"] for asked in voices.asked]
    assert " ".join(inputs) == " ".join(sentences)
    assert 1 < len(inputs) < 8
    assert max(map(len, inputs)) <= MAX_REQUEST_CHARS
    assert "".join(event.delta for event in of(events, ReplyText)) == script
    assert len(sound(events)) == len(inputs) * len(SOUND)
    assert len(of(events, StageStarted)) == len(of(events, StageTiming)) == 1


async def test_markup_is_not_spoken_and_a_long_block_of_code_is_in_parts(voices):
    code = " ".join(f"step{number}" for number in range(100))
    script = f"**Three** steps:\n- one\n- two\n\n```\n{code}\n```\n---\n"
    events = await events_of(await loaded(voices), script)
    inputs = [asked["input"] for asked in voices.asked]
    assert inputs[0] == "Three steps: one. two"
    assert len(inputs) > 2
    assert " ".join(inputs[1:]) == code
    assert "".join(event.delta for event in of(events, ReplyText)) == script


async def test_a_text_that_is_not_to_be_spoken_asks_for_nothing(voices):
    events = await events_of(await loaded(voices), spoken=False)
    assert [event.delta for event in of(events, ReplyText)] == [WORDS]
    assert not of(events, SpeechChunk)
    assert voices.asked == []


async def test_stopping_hangs_up_and_the_next_text_is_spoken(voices, until):
    voices.script = goes_on
    engine, sounded = await loaded(voices), asyncio.Event()

    async def listen() -> None:
        async for event in engine.run(Turn("session", 0, script=WORDS)):
            if isinstance(event, SpeechChunk):
                sounded.set()

    listening = asyncio.create_task(listen())
    await sounded.wait()
    assert voices.speaking == 1
    listening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await listening
    await until(lambda: voices.speaking == 0)  # it would go on for ever
    voices.script = spoken
    assert len(sound(await events_of(engine))) == len(SOUND)


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (told("Invalid language 'Klingon'."), TurnRefused, "refused this: Invalid language 'Kl"),
        (JSONResponse({"detail": [{"msg": "Too long"}]}, 422), TurnRefused, "this: Too long"),
        (JSONResponse({"detail": "Not so\n fast"}, 404), TurnRefused, "this: Not so fast"),
        (PlainTextResponse("<html>", 400), TurnRefused, "refused this: HTTP 400"),
        (Response(status_code=302), TurnRefused, "refused this: HTTP 302"),
        (Response(status_code=401), ServerRefused, "asks for a key"),
        (Response(status_code=429), StageFailed, "busy with other conversations"),
        (JSONResponse({"error": {"message": "x"}}, 500), StageFailed, "The model on the server"),
        (Response(status_code=503), StageFailed, "cannot take this just now .HTTP 503"),
        (Response(PCM, media_type="audio/mpeg"), StageFailed, "does not understand"),
        (Response(PCM[:-1], media_type="audio/pcm"), StageFailed, "does not understand"),
        (Response(b"", media_type="audio/pcm"), StageFailed, "before there was any sound"),
    ],
)
async def test_what_the_server_says_instead_of_speaking_is_told_in_plain_words(
    voices, answer, error, words
):
    engine = await loaded(voices)
    voices.answer = answer
    with pytest.raises(error, match=words):
        await events_of(engine)
    voices.answer = None
    assert len(sound(await events_of(engine))) == len(SOUND)


async def test_sound_without_a_name_is_taken_for_what_was_asked_for(voices):
    engine = await loaded(voices)
    voices.answer = Response(PCM)
    assert len(sound(await events_of(engine))) == len(SOUND)


async def test_a_text_that_breaks_off_fails_alone_in_the_app(voices, start, until):
    thread = start(RemoteEngine(Server(voices.url)))
    await until(lambda: thread.status.state is EngineState.READY)

    async def say() -> list[Any]:
        return [event async for event in thread.submit(Turn("session", 0, script=WORDS))]

    voices.script = breaks_off
    broken = await say()
    assert of(broken, SpeechChunk)
    assert broken[-1].outcome is Outcome.FAILED
    assert "The connection to the server was lost" in broken[-1].message
    voices.script = says(PCM)
    assert (await say())[-1].outcome is Outcome.ANSWERED
    assert thread.status.state is EngineState.READY


async def test_a_server_that_is_gone_is_told_of():
    with SpeechServer().running() as server:
        engine = await loaded(server)
    with pytest.raises(StageFailed, match=f"The server at {server.url} does not answer"):
        await events_of(engine)


@pytest.mark.parametrize(
    ("kind", "asked", "code"),
    [
        ("CustomVoice", {"script": "?!"}, "nothing_to_say"),
        ("CustomVoice", {"voice": VoiceSpec(speaker="nobody")}, "unknown_voice"),
        ("CustomVoice", {"voice": VoiceSpec(language="sv")}, "voice_language"),
        ("CustomVoice", {"voice": VoiceSpec(style="x" * 501)}, "style_too_long"),
        ("CustomVoice", {"seed": -1}, "seed"),
        ("Base", {}, "reference_missing"),
        ("VoiceDesign", {}, "style_missing"),
        ("", {"voice_speed": 5.0}, "voice_speed"),
        ("", {"voice_speed": float("nan")}, "voice_speed"),
    ],
)
async def test_what_cannot_be_spoken_never_reaches_the_server(kind, asked, code):
    with SpeechServer(kind).running() as server:
        engine = await loaded(server)
        with pytest.raises(TurnRefused) as refusal:
            await events_of(engine, **asked)
    assert refusal.value.code == code
    assert server.asked == []
