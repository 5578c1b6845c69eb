"""The official ``openai`` package holds a spoken conversation with the app."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import get_args

import numpy as np
import pytest
import soxr
from openai import AsyncOpenAI
from openai.types.realtime import (
    ConversationItemAdded,
    ConversationItemDone,
    ConversationItemInputAudioTranscriptionCompletedEvent,
    InputAudioBufferCommittedEvent,
    InputAudioBufferSpeechStartedEvent,
    InputAudioBufferSpeechStoppedEvent,
    RealtimeErrorEvent,
    RealtimeServerEvent,
    ResponseAudioDeltaEvent,
    ResponseAudioDoneEvent,
    ResponseAudioTranscriptDeltaEvent,
    ResponseAudioTranscriptDoneEvent,
    ResponseCreatedEvent,
    ResponseDoneEvent,
    SessionCreatedEvent,
    SessionUpdatedEvent,
)

from backend.contract.events import SpeechChunk
from backend.conversation.pcm import to_pcm16
from backend.runtime.engine_thread import EngineThread
from tests.realtime.sounds import RATE, pause, speech
from tests.scripted_engine import ScriptedEngine, raise_error, say, stay_silent, tone
from tests.serving import serve_routes

WIRE_RATE = 24_000
REPLY = "It has eight legs."

LISTEN = {
    "type": "realtime",
    "instructions": "Be brief.",
    "audio": {
        "input": {
            "format": {"type": "audio/pcm", "rate": WIRE_RATE},
            "turn_detection": {
                "type": "server_vad",
                "threshold": 0.5,
                "prefix_padding_ms": 300,
                "silence_duration_ms": 500,
                "create_response": True,
                "interrupt_response": True,
            },
        },
        "output": {"format": {"type": "audio/pcm", "rate": WIRE_RATE}},
    },
}

KNOWN = {
    get_args(event.model_fields["type"].annotation)[0]: event
    for event in get_args(get_args(RealtimeServerEvent)[0])
}
"""The package's class for each type of event that the protocol has."""

SPOKEN_TURN = [
    InputAudioBufferSpeechStartedEvent,
    InputAudioBufferSpeechStoppedEvent,
    InputAudioBufferCommittedEvent,
    ResponseCreatedEvent,
    ResponseAudioTranscriptDeltaEvent,
    ResponseAudioDeltaEvent,
    ResponseAudioDoneEvent,
    ResponseAudioTranscriptDoneEvent,
    ResponseDoneEvent,
]


class Caller:
    """A program that talks by way of the package."""

    def __init__(self, connection):
        self.connection = connection
        self.extras = []

    async def next(self):
        """The next event that the protocol knows; the app's extras are put aside."""
        while True:
            data = await asyncio.wait_for(self.connection.recv_bytes(), 20)
            message, event = json.loads(data), self.connection.parse_event(data)
            known = KNOWN.get(message["type"])
            if known is not None:
                # The package itself does not look whether all fields are there.
                known.model_validate(message)
                assert type(event) is known
                return event
            assert message["type"].startswith("omni.") or message["type"] == "response.listen"
            self.extras.append(message["type"])

    async def until(self, kind: type) -> list:
        told = [await self.next()]
        while not isinstance(told[-1], kind):
            told.append(await self.next())
        return told

    async def speak(self, *sounds: np.ndarray) -> None:
        """Send this in pieces of a tenth of a second, and nothing about its rate."""
        sound = soxr.resample(np.concatenate(sounds), RATE, WIRE_RATE)
        for start in range(0, len(sound), WIRE_RATE // 10):
            piece = to_pcm16(sound[start : start + WIRE_RATE // 10])
            audio = base64.b64encode(piece).decode()
            await self.connection.input_audio_buffer.append(audio=audio)

    async def write(self, text: str, **options) -> None:
        content = [{"type": "input_text", "text": text}]
        item = {"type": "message", "role": "user", "content": content}
        await self.connection.conversation.item.create(item=item, **options)


def only(told: list, kind: type):
    """The one event of this kind."""
    (event,) = (event for event in told if isinstance(event, kind))
    return event


def sound_of(told: list) -> bytes:
    return b"".join(
        base64.b64decode(event.delta)
        for event in told
        if isinstance(event, ResponseAudioDeltaEvent)
    )


@pytest.fixture
def engine():
    return ScriptedEngine(say(REPLY, chunks=4), words="How many legs does a spider have?")


@pytest.fixture
async def caller(engine):
    with serve_routes(EngineThread(lambda: engine)) as app:
        client = AsyncOpenAI(
            api_key="none is needed",
            base_url=f"{app.url}/v1",
            websocket_base_url=f"ws{app.url[4:]}/v1",
        )
        async with client.realtime.connect(model="omni-live") as connection:
            caller = Caller(connection)
            await caller.until(SessionCreatedEvent)
            await caller.connection.session.update(session=LISTEN)
            updated = (await caller.until(SessionUpdatedEvent))[-1]
            assert updated.session.instructions == "Be brief."
            assert updated.session.audio.input.turn_detection.type == "server_vad"
            yield caller


async def test_a_spoken_question_is_answered_in_words_and_in_sound(caller, engine):
    await caller.speak(pause(0.4), speech(), pause(2))
    told = await caller.until(ResponseDoneEvent)
    kinds = [type(event) for event in told]
    places = [kinds.index(kind) for kind in SPOKEN_TURN]
    assert places == sorted(places)
    heard = only(told, ConversationItemInputAudioTranscriptionCompletedEvent)
    assert heard.transcript == engine.words
    assert heard.usage.seconds == pytest.approx(len(speech()) / RATE + 0.5, abs=0.8)
    assert only(told, ResponseAudioTranscriptDoneEvent).transcript == REPLY
    assert (
        "".join(e.delta for e in told if isinstance(e, ResponseAudioTranscriptDeltaEvent)) == REPLY
    )
    assert sound_of(told) == to_pcm16(tone(0.8))
    assert told[-1].response.status == "completed"
    assert engine.runs[0].settings.system_prompt == "Be brief."


async def test_question_and_reply_are_items_that_follow_each_other(caller):
    await caller.speak(speech(), pause(2))
    told = await caller.until(ResponseDoneEvent)
    question, reply = (event for event in told if isinstance(event, ConversationItemAdded))
    assert (question.item.role, reply.item.role) == ("user", "assistant")
    assert reply.previous_item_id == question.item.id
    for kind in (
        InputAudioBufferSpeechStartedEvent,
        InputAudioBufferSpeechStoppedEvent,
        InputAudioBufferCommittedEvent,
        ConversationItemInputAudioTranscriptionCompletedEvent,
    ):
        assert only(told, kind).item_id == question.item.id
    of_reply = [event for event in told if getattr(event, "response_id", None)]
    assert {event.response_id for event in of_reply} == {told[-1].response.id}
    parts = [event for event in of_reply if hasattr(event, "content_index")]
    assert {event.item_id for event in parts if hasattr(event, "output_index")} == {reply.item.id}
    done = [event.item for event in told if isinstance(event, ConversationItemDone)]
    assert [item.id for item in done] == [question.item.id, reply.item.id]
    assert done[-1].content[0].transcript == REPLY
    assert told[-1].response.output[0].id == reply.item.id


async def test_a_second_question_is_answered_like_the_first(caller, engine):
    await caller.speak(speech(), pause(2))
    first = await caller.until(ResponseDoneEvent)
    await caller.speak(speech(), pause(2))
    second = await caller.until(ResponseDoneEvent)
    assert second[-1].response.status == "completed"
    assert sound_of(second) == sound_of(first)
    question = next(event for event in second if isinstance(event, ConversationItemAdded))
    assert question.previous_item_id == first[-1].response.output[0].id
    assert engine.runs[-1].history[-1].assistant == REPLY


async def test_speech_into_the_reply_cancels_it(caller, engine, until):
    engine.script = say("A long reply.", chunks=400, chunk_s=0.05, pause_s=0.02)
    await caller.speak(speech(), pause(2))
    await caller.until(ResponseAudioDeltaEvent)
    await caller.speak(speech()[:RATE])
    told = await caller.until(ResponseDoneEvent)
    assert any(isinstance(event, InputAudioBufferSpeechStartedEvent) for event in told)
    assert told[-1].response.status == "cancelled"
    assert told[-1].response.status_details.reason == "turn_detected"
    await until(lambda: engine.running == 0)
    await caller.speak(speech()[RATE:], pause(2))
    await caller.until(ResponseAudioDeltaEvent)


async def test_a_reply_can_be_cancelled(caller, engine, until):
    engine.script = say("A long reply.", chunks=400, chunk_s=0.05, pause_s=0.02)
    await caller.speak(speech(), pause(2))
    told = await caller.until(ResponseAudioDeltaEvent)
    response_id = only(told, ResponseCreatedEvent).response.id
    await caller.connection.response.cancel(response_id=response_id)
    done = (await caller.until(ResponseDoneEvent))[-1]
    assert done.response.id == response_id
    assert done.response.status == "cancelled"
    assert done.response.status_details.reason == "client_cancelled"
    await until(lambda: engine.running == 0)


async def test_cancelling_another_reply_leaves_this_one_alone(caller, engine):
    await caller.connection.response.cancel(response_id="of long ago")
    assert (await caller.until(RealtimeErrorEvent))[-1].error.message
    await caller.write("hello")
    await caller.connection.response.create()
    assert (await caller.until(ResponseDoneEvent))[-1].response.status == "completed"


async def test_a_written_question_is_answered(caller, engine):
    await caller.write("How many legs does a spider have?")
    item = (await caller.until(ConversationItemDone))[-1].item
    assert item.content[0].text == "How many legs does a spider have?"
    await caller.connection.response.create(response={"instructions": "Answer in rhyme."})
    told = await caller.until(ResponseDoneEvent)
    reply = only(told, ConversationItemAdded)
    assert (reply.item.role, reply.previous_item_id) == ("assistant", item.id)
    assert told[-1].response.output[0].content[0].transcript == REPLY
    assert engine.runs[0].text == "How many legs does a spider have?"
    assert engine.runs[0].settings.system_prompt == "Answer in rhyme."


async def test_without_turn_detection_the_client_says_what_the_question_is(caller, engine):
    session = {"type": "realtime", "audio": {"input": {"turn_detection": None}}}
    await caller.connection.session.update(session=session)
    updated = (await caller.until(SessionUpdatedEvent))[-1]
    assert updated.session.audio.input.turn_detection is None
    await caller.speak(speech())
    await caller.connection.input_audio_buffer.commit()
    committed = (await caller.until(InputAudioBufferCommittedEvent))[-1]
    await caller.connection.response.create()
    told = await caller.until(ResponseDoneEvent)
    heard = only(told, ConversationItemInputAudioTranscriptionCompletedEvent)
    assert heard.item_id == committed.item_id
    assert told[-1].response.status == "completed"
    assert engine.runs[0].audio.duration_s == pytest.approx(len(speech()) / RATE, abs=0.01)


async def test_a_mistake_is_answered_with_its_event_id_and_the_talk_goes_on(caller):
    await caller.connection.send({"type": "no.such.event", "event_id": "mine-1"})
    error = (await caller.until(RealtimeErrorEvent))[-1].error
    assert (error.type, error.event_id) == ("invalid_request_error", "mine-1")
    await caller.connection.input_audio_buffer.append(audio="no base64!", event_id="mine-2")
    assert (await caller.until(RealtimeErrorEvent))[-1].error.event_id == "mine-2"
    await caller.connection.conversation.item.truncate(
        item_id="unknown", content_index=0, audio_end_ms=0, event_id="mine-3"
    )
    assert (await caller.until(RealtimeErrorEvent))[-1].error.event_id == "mine-3"
    await caller.speak(speech(), pause(2))
    assert (await caller.until(ResponseDoneEvent))[-1].response.status == "completed"


@pytest.mark.parametrize(
    "session",
    [
        {"type": "transcription"},
        {"type": "realtime", "audio": {"input": {"format": {"type": "audio/pcmu"}}}},
        {"type": "realtime", "audio": {"output": {"format": {"type": "audio/pcma"}}}},
        {
            "type": "realtime",
            "audio": {
                "input": {"turn_detection": {"type": "server_vad", "create_response": False}}
            },
        },
    ],
)
async def test_what_the_app_cannot_do_is_refused_and_not_passed_over(caller, session):
    await caller.connection.send({"type": "session.update", "session": session, "event_id": "x"})
    assert (await caller.until(RealtimeErrorEvent))[-1].error.event_id == "x"


async def test_a_reply_that_fails_says_why(caller, engine):
    engine.script = raise_error
    await caller.speak(speech(), pause(2))
    done = (await caller.until(ResponseDoneEvent))[-1]
    assert done.response.status == "failed"
    assert "a stage raised" in done.response.status_details.error.message


async def test_a_chosen_silence_is_a_reply_without_items(caller, engine):
    engine.script = stay_silent
    await caller.speak(speech(), pause(2))
    done = (await caller.until(ResponseDoneEvent))[-1]
    assert (done.response.status, done.response.output) == ("completed", [])
    assert "response.listen" in caller.extras


async def test_what_was_heard_of_a_reply_can_be_told(caller, engine):
    await caller.speak(speech(), pause(2))
    reply = (await caller.until(ResponseDoneEvent))[-1].response.output[0]
    await caller.connection.conversation.item.truncate(
        item_id=reply.id, content_index=0, audio_end_ms=400
    )
    await caller.speak(speech(), pause(2))
    await caller.until(ResponseDoneEvent)
    assert engine.runs[-1].history[-1].assistant == "It has …"


async def test_an_engine_of_another_rate_is_heard_at_the_rate_of_the_protocol(caller, engine):
    async def script(_engine, turn):
        for piece in np.array_split(tone(1.0, rate=16_000), 7):
            yield SpeechChunk(turn_id=turn.id, pcm=piece, sample_rate=16_000)

    engine.script = script
    await caller.speak(speech(), pause(2))
    heard = np.frombuffer(sound_of(await caller.until(ResponseDoneEvent)), "<i2")
    assert len(heard) == pytest.approx(WIRE_RATE, abs=2)
    middle = heard[2400:-2400] / 32768
    assert middle == pytest.approx(tone(1.0)[2400 : 2400 + len(middle)], abs=0.01)
