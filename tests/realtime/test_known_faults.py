"""Faults that people met in systems of this kind, tried over the wire."""

from __future__ import annotations

import asyncio
import base64

import pytest
from websockets.asyncio.client import connect

from backend.contract.events import ReplyText, SpeechChunk
from backend.conversation.pcm import to_pcm16
from backend.realtime import connection as connection_module
from backend.runtime.engine_thread import EngineThread
from tests.realtime.test_call import Caller
from tests.scripted_engine import (
    RATE,
    ScriptedEngine,
    die,
    echo,
    hang,
    only_finish,
    raise_error,
    say,
    stay_silent,
    tone,
)
from tests.serving import serve_routes

ANN, BOB = "a" * 32, "b" * 32
SENTENCE_S = 0.25


async def thirty_sentences(engine, turn):
    """Say thirty sentences, each as long as it takes."""
    for number in range(30):
        yield ReplyText(turn_id=turn.id, delta=f"Sentence {number}. ")
        yield SpeechChunk(turn_id=turn.id, pcm=tone(SENTENCE_S), sample_rate=RATE)
        await asyncio.sleep(SENTENCE_S)


SCRIPTS = {
    "bad": raise_error,
    "die": die,
    "hang": hang,
    "quiet": stay_silent,
    "nothing": only_finish,
    "mute": say("Only words.", chunks=0),
    "word": say("Yes.", chunks=1, chunk_s=0.08),
    "thirty": thirty_sentences,
}


@pytest.fixture
def engines():
    return []


@pytest.fixture
def app(engines):
    def make() -> ScriptedEngine:
        engines.append(ScriptedEngine(echo, scripts=SCRIPTS))
        return engines[-1]

    with serve_routes(EngineThread(make)) as served:
        yield served


class Person(Caller):
    """Somebody who writes."""

    async def ask(self, text: str) -> None:
        content = [{"type": "input_text", "text": text}]
        item = {"type": "message", "role": "user", "content": content}
        await self.send(type="conversation.item.create", item=item)
        await self.send(type="response.create")

    async def answer(self, text: str) -> list[dict]:
        """Ask, and return all that is told up to the end of the reply."""
        await self.ask(text)
        return await self.until("response.done")


def join(app, session_id: str):
    url = f"ws{app.url[4:]}/v1/realtime"
    return connect(url, subprotocols=[f"omni-session.{session_id}"], max_size=None)


@pytest.fixture
async def ann(app):
    async with join(app, ANN) as socket:
        yield Person(socket)


@pytest.fixture
async def bob(app):
    async with join(app, BOB) as socket:
        yield Person(socket)


def of_type(told: list[dict], kind: str) -> list[dict]:
    return [message for message in told if message["type"] == kind]


def sound(told: list[dict]) -> bytes:
    pieces = of_type(told, "response.output_audio.delta")
    return b"".join(base64.b64decode(piece["delta"]) for piece in pieces)


@pytest.mark.parametrize("silence", ["quiet", "nothing"])
async def test_a_wanted_silence_is_no_failure(ann, silence):
    told = await ann.answer(silence)
    assert told[-1]["outcome"] == "silent"
    assert of_type(told, "response.listen")[0]["reason"]
    assert sound(told) == b""


async def test_words_without_sound_are_shown_and_it_is_said_that_speech_is_missing(ann):
    told = await ann.answer("mute")
    assert told[-1]["response"]["output"][0]["content"][0]["transcript"] == "Only words."
    assert of_type(told, "omni.notice")[0]["code"] == "speech_missing"


async def test_one_word_of_80_ms_has_its_sound(ann):
    assert sound(await ann.answer("word")) == to_pcm16(tone(0.08))


async def test_after_silences_and_a_failure_a_question_is_asked_as_if_they_had_not_been(
    ann, engines
):
    for text in ("quiet", "nothing", "quiet", "bad"):
        await ann.answer(text)
    assert sound(await ann.answer("a real question")) == to_pcm16(tone(0.2))
    assert engines[-1].runs[-1].history == ()


async def test_asking_twice_at_once_makes_one_turn(ann, engines, until):
    await ann.ask("hang")
    await ann.send(type="response.create")  # the same press once more
    told = await ann.until("error")
    assert "first" in told[-1]["error"]["message"]
    await until(lambda: engines[-1].runs)
    await ann.send(type="response.cancel")
    await ann.until("response.done")
    assert len(engines[-1].runs) == 1


async def test_an_engine_is_free_for_another_soon_after_somebody_left(
    app, ann, bob, engines, until, monkeypatch
):
    monkeypatch.setattr(connection_module, "LEAVE_GRACE_S", 0.2)
    await ann.ask("hang")
    await ann.until("response.created")
    await ann.socket.close(1001)
    assert (await bob.answer("hello"))[-1]["outcome"] == "answered"
    await until(lambda: len(engines[-1].stopped) == 1)


async def test_what_one_person_chose_and_said_is_not_the_others(ann, bob, engines):
    await ann.send(type="session.update", session={"instructions": "Be Ann's."})
    await ann.answer("I am Ann.")
    told = await bob.answer("What is my name?")
    turn = engines[-1].runs[-1]
    assert (turn.session_id, turn.history) == (BOB, ())
    assert turn.settings.system_prompt != "Be Ann's."
    assert not [message for message in told if "Ann" in str(message)]


async def test_a_stop_is_for_ones_own_reply(ann, bob, engines):
    await ann.ask("thirty")
    await ann.until("response.output_audio.delta")
    await bob.send(type="response.cancel")
    await bob.send(type="omni.conversation.clear")
    await bob.until("omni.conversation.cleared")
    for _ in range(3):
        await ann.until("response.output_audio.delta")
    assert engines[-1].stopped == []


async def test_after_an_interruption_nothing_of_the_old_reply_comes(ann, engines):
    await ann.ask("thirty")
    for _ in range(3):
        old_id = (await ann.until("response.output_audio.delta"))[-1]["response_id"]
    await ann.ask("next")
    await ann.until("response.created")
    told = await ann.until("response.output_audio.delta")
    assert told[-1]["response_id"] != old_id
    told += await ann.until("response.done")
    late = [message for message in told if message.get("response_id") == old_id]
    assert not of_type(late, "response.output_audio.delta")
    assert not of_type(late, "response.output_audio_transcript.delta")
    assert engines[-1].stopped == [old_id]


async def test_an_engine_on_which_every_request_raises_says_so_each_time(ann, engines):
    for _ in range(4):
        done = (await ann.answer("bad"))[-1]
        assert (done["outcome"], done["response"]["status"]) == ("failed", "failed")
        assert "a stage raised" in done["message"]
    assert (await ann.answer("good"))[-1]["outcome"] == "answered"
    assert len(engines) == 1


async def test_an_engine_that_dies_again_and_again_is_made_anew_each_time(ann, bob, engines):
    for _ in range(3):
        done = (await ann.answer("die"))[-1]
        assert (done["outcome"], "a stage died" in done["message"]) == ("failed", True)
    assert (await bob.answer("hello"))[-1]["outcome"] == "answered"
    assert len(engines) == 4
    assert all(engine.closed for engine in engines[:3])
