"""What the engine finds out about a server: answers, texts, whose voices."""

from __future__ import annotations

import pytest
from starlette.responses import Response

from backend.contract.engine import Capabilities
from backend.contract.errors import EngineFailed
from backend.contract.turn import Turn
from backend.contract.voice import VoiceMode
from backend.engines.failures import StageFailed
from backend.engines.remote.engine import RemoteEngine
from backend.engines.remote.server import Server, ServerRefused
from tests.engines.remote.speech_server import SpeechServer

QWEN = "Qwen/Qwen3-TTS-12Hz-1.7B-Base"


async def loaded(server: SpeechServer, **known) -> RemoteEngine:
    engine = RemoteEngine(Server(server.url, **known))
    await engine.load(lambda share, text: None)
    return engine


async def found(server: SpeechServer, **known) -> Capabilities:
    with server.running():
        return (await loaded(server, **known)).capabilities


async def test_a_server_of_a_voice_alone_speaks_texts_and_answers_nothing():
    known = await found(SpeechServer(model="some-voice"))
    assert known.recites
    assert not known.answers
    assert not known.sees_pictures
    assert "some-voice" in known.summary
    assert "Answers nothing" in known.summary


async def test_a_server_of_live_sessions_alone_answers_and_speaks_no_texts(engine, server, ask):
    await engine.load(lambda share, text: None)
    assert engine.capabilities.answers
    assert not engine.capabilities.recites
    with pytest.raises(Exception, match="only the replies that it thinks up"):
        await ask(script="Read this.")


async def test_a_server_of_both_answers_and_speaks_texts():
    known = await found(SpeechServer(holds_sessions=True))
    assert known.answers
    assert known.recites


@pytest.mark.parametrize(
    ("kind", "mode", "style_chars", "reference_s"),
    [
        ("Base", VoiceMode.CLONE, 0, (1, 30)),
        ("CustomVoice", VoiceMode.NAMED, 500, (0, 0)),
        ("VoiceDesign", VoiceMode.DESIGN, 500, (0, 0)),
    ],
)
async def test_the_server_says_where_its_voices_come_from(kind, mode, style_chars, reference_s):
    voice = (await found(SpeechServer(kind))).voice
    assert voice.modes == (mode,)
    assert voice.style_chars == style_chars
    assert voice.reference_s == reference_s
    assert {"auto", "en", "zh"} <= set(voice.languages)
    assert not voice.changes_speed


async def test_a_server_that_does_not_say_it_is_taken_at_its_models_name():
    assert (await found(SpeechServer("", QWEN))).voice.modes == (VoiceMode.CLONE,)
    assert (await found(SpeechServer("", "voices-Base"))).voice.modes == (VoiceMode.NAMED,)


async def test_the_small_named_voices_follow_no_style():
    small = SpeechServer(model="Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice")
    assert (await found(small)).voice.style_chars == 0


async def test_the_servers_voices_are_listed_without_those_that_others_left_there():
    voices = {
        "voices": ["default", "ryan", "uncle_fu", "vivian", "anna"],
        "uploaded_voices": [{"name": "Anna"}],
    }
    voice = (await found(SpeechServer(voices=voices))).voice
    assert voice.speakers == ("Vivian", "Ryan", "uncle_fu")


@pytest.mark.parametrize(
    ("voices", "speakers"),
    [
        ({"voices": [{"id": "one", "name": "1"}, {"name": "two"}]}, ("One", "Two")),
        ({"voices": None}, ()),
        ({"voices": [3, ""], "uploaded_voices": 1}, ()),
        (["one"], ()),
    ],
)
async def test_other_lists_of_voices_are_read_as_far_as_they_can_be(voices, speakers):
    assert (await found(SpeechServer(voices=voices))).voice.speakers == speakers


async def test_names_that_are_set_are_the_ones_to_choose_from():
    server = SpeechServer(voices={"voices": ["ryan", "vivian"]})
    assert (await found(server, speakers=("Serena",))).voice.speakers == ("Serena",)


async def test_a_server_with_nothing_but_openais_route_speaks_with_the_voices_that_are_set():
    with SpeechServer("").running() as server:
        engine = await loaded(server, speakers=("alloy", "Nova"))
        await engine.health()
        voice = engine.capabilities.voice
        assert engine.capabilities.recites
        assert not engine.capabilities.answers
        assert voice.modes == (VoiceMode.NAMED,)
        assert voice.speakers == ("Alloy", "Nova")
        assert voice.changes_speed
    with pytest.raises(EngineFailed, match="does not answer"):
        await engine.health()


async def test_looking_makes_the_server_speak_nothing():
    server = SpeechServer()
    await found(server)
    assert server.asked == []


@pytest.mark.parametrize("answer", [Response(b""), Response(status_code=500)])
async def test_what_a_server_makes_of_a_text_without_words_does_not_matter(answer):
    assert (await found(SpeechServer("", answer=answer))).recites


@pytest.mark.parametrize("status", [404, 502])
async def test_a_server_that_speaks_needs_no_sessions(status):
    assert (await found(SpeechServer(door=status))).answers is False


@pytest.mark.parametrize(
    ("server", "error", "words"),
    [
        (SpeechServer(key="secret"), ServerRefused, "asks for a key"),
        (SpeechServer("", answer=Response(status_code=503)), StageFailed, "just now .HTTP 503"),
        (SpeechServer("", answer=Response(status_code=404)), ServerRefused, "no vLLM-Omni server"),
    ],
)
async def test_what_cannot_speak_is_refused_in_plain_words(server, error, words):
    with server.running(), pytest.raises(error, match=words):
        await loaded(server)


async def test_the_key_opens_the_speech_route():
    assert (await found(SpeechServer(key="secret"), key="secret")).recites


async def test_a_question_to_a_voice_alone_is_refused():
    with SpeechServer().running() as server:
        engine = await loaded(server)
        with pytest.raises(Exception, match="answers no questions"):
            await anext(engine.run(Turn("session", 0, text="Who are you?")))
    assert server.asked == []
