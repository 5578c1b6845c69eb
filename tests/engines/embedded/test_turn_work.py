"""How a turn goes through the stages; the stages are doubles."""

from __future__ import annotations

import asyncio
import threading
import time

import numpy as np
import pytest

from backend.contract.errors import EngineFailed, TurnRefused
from backend.contract.events import (
    Notice,
    ReplyText,
    SceneNotes,
    Silence,
    SpeechChunk,
    Stage,
    StageStarted,
    StageTiming,
    Transcript,
)
from backend.contract.turn import Exchange, TurnSettings
from tests.engines.embedded.doubles import (
    FakeChat,
    FakeEyes,
    FakeRecognizer,
    FakeVoice,
    a_clip,
    a_picture,
    a_turn,
    events_of,
    frames_of,
    only,
    words_of,
)


def written(events):
    return "".join(event.delta for event in only(events, ReplyText))


async def test_a_spoken_question_is_heard_answered_and_spoken_in_that_order(loaded):
    events = await events_of(await loaded(), a_turn(audio=a_clip()))
    assert [event.stage for event in only(events, StageStarted)] == [
        Stage.HEAR, Stage.THINK, Stage.SPEAK,
    ]  # fmt: skip
    assert only(events, Transcript)[-1].text == "What is the time?"
    assert only(events, Transcript)[-1].final
    assert written(events) == "It is noon."
    assert len(only(events, SpeechChunk)) == 1
    assert {event.stage for event in only(events, StageTiming)} == {
        Stage.HEAR, Stage.THINK, Stage.SPEAK,
    }  # fmt: skip


async def test_every_event_belongs_to_the_turn(loaded):
    turn = a_turn(text="Hello", frames=a_picture())
    assert {event.turn_id for event in await events_of(await loaded(), turn)} == {turn.id}


async def test_transcripts_grow_by_segment_and_only_the_last_is_final(loaded):
    engine = await loaded(recognizer=FakeRecognizer(("One.", "Two.", "Three.")))
    heard = only(await events_of(engine, a_turn(audio=a_clip())), Transcript)
    assert [event.text for event in heard] == ["One.", "One. Two.", *["One. Two. Three."] * 2]
    assert [event.final for event in heard] == [False, False, False, True]


async def test_a_recording_without_speech_is_silent_and_reaches_no_model(loaded):
    chat, voice = FakeChat(), FakeVoice()
    engine = await loaded(recognizer=FakeRecognizer(()), chat=chat, voice=voice)
    chat.prompts.clear()
    events = await events_of(engine, a_turn(audio=a_clip()))
    assert [event.reason for event in only(events, Silence)] == ["No speech was heard."]
    assert not only(events, Transcript)
    assert not only(events, ReplyText)
    assert not chat.prompts
    assert not voice.said


async def test_typed_text_is_the_question_when_the_recording_holds_no_speech(loaded):
    chat = FakeChat()
    engine = await loaded(recognizer=FakeRecognizer(()), chat=chat)
    events = await events_of(engine, a_turn(audio=a_clip(), text="Are you there?"))
    assert chat.prompts[-1][-1]["content"] == "Are you there?"
    assert written(events) == "It is noon."


async def test_a_video_without_speech_is_answered_as_a_picture_and_says_so(loaded):
    chat = FakeChat()
    engine = await loaded(recognizer=FakeRecognizer(()), chat=chat)
    events = await events_of(engine, a_turn(audio=a_clip(), frames=a_picture()))
    assert [event.code for event in only(events, Notice)] == ["no_speech"]
    assert "Describe what you see." in chat.prompts[-1][-1]["content"]
    assert written(events) == "It is noon."


async def test_a_picture_alone_gets_an_answer_from_its_notes(loaded):
    chat = FakeChat()
    events = await events_of(await loaded(chat=chat), a_turn(frames=a_picture()))
    assert only(events, SceneNotes)[0].text == "It is bright."
    assert "It is bright." in chat.prompts[-1][-1]["content"]
    assert written(events) == "It is noon."


async def test_seeing_and_hearing_go_on_at_the_same_time(loaded):
    meeting = threading.Barrier(2, timeout=5)

    class MeetingRecognizer(FakeRecognizer):
        def transcribe(self, clip, language, stop):
            meeting.wait()
            yield "Hello."

    class MeetingEyes(FakeEyes):
        def look(self, frames, stop):
            meeting.wait()
            return "It is dark."

    engine = await loaded(recognizer=MeetingRecognizer(), eyes=MeetingEyes())
    events = await events_of(engine, a_turn(audio=a_clip(), frames=a_picture()))
    assert only(events, SceneNotes)
    assert only(events, Transcript)


async def test_the_first_sentence_is_spoken_while_the_rest_is_written(loaded):
    chat = FakeChat(("First one. ", *["and more "] * 10, "end."), pause_s=0.05)
    events = await events_of(await loaded(chat=chat), a_turn(text="Hello"))
    kinds = [type(event) for event in events]
    assert kinds.index(SpeechChunk) < len(kinds) - kinds[::-1].index(ReplyText) - 1


@pytest.mark.parametrize("marker", ["<|silent|>", " <|silent|>\n", "<|SILENT|>.", "[Silence]", ""])
async def test_a_reply_that_is_only_a_marker_is_silent_and_unheard(loaded, marker):
    voice = FakeVoice()
    engine = await loaded(chat=FakeChat(tuple(marker)), voice=voice)
    events = await events_of(engine, a_turn(text="Hello"))
    assert len(only(events, Silence)) == 1
    assert not only(events, ReplyText)
    assert not only(events, SpeechChunk)
    assert not voice.said


async def test_markdown_is_written_as_it_is_and_spoken_as_prose(loaded):
    voice = FakeVoice()
    chat = FakeChat(("**bo", "ld** and `my_", "var` = 2 * 3\n- it", "em"))
    events = await events_of(await loaded(chat=chat, voice=voice), a_turn(text="Hello"))
    assert written(events) == "**bold** and `my_var` = 2 * 3\n- item"
    assert voice.said == ["bold and my_var equals 2 times 3", "item"]


async def test_what_cannot_be_spoken_is_left_out_of_the_speech_alone(loaded):
    voice = FakeVoice()
    chat = FakeChat(("Yes. ", "🙂🙂\n", "Of course."))
    events = await events_of(await loaded(chat=chat, voice=voice), a_turn(text="Hello"))
    assert "🙂🙂" in written(events)
    assert voice.said == ["Yes.", "Of course."]


async def test_text_is_shown_and_a_notice_given_when_speech_fails(loaded):
    engine = await loaded(voice=FakeVoice(error=RuntimeError("no voice today")))
    events = await events_of(engine, a_turn(text="Hello"))
    assert written(events) == "It is noon."
    assert [event.code for event in only(events, Notice)] == ["speech_failed"]


async def test_a_failing_model_fails_its_turn_and_not_the_next(loaded):
    chat = FakeChat()
    engine = await loaded(chat=chat)
    chat.error = RuntimeError("out of memory")
    with pytest.raises(RuntimeError, match="out of memory"):
        await events_of(engine, a_turn(text="Hello"))
    chat.error = None
    assert written(await events_of(engine, a_turn(text="Hello"))) == "It is noon."


async def test_leaving_a_turn_stops_the_model_and_the_next_turn_starts_clean(loaded):
    chat = FakeChat(tuple(f"Sentence {number}. " for number in range(200)), pause_s=0.02)
    engine = await loaded(chat=chat)
    stream = engine.run(a_turn(text="Hello"))
    async for event in stream:
        if isinstance(event, SpeechChunk):
            break
    left = time.monotonic()
    await stream.aclose()
    assert time.monotonic() - left < 0.5
    chat.deltas = ("Second.",)
    assert written(await events_of(engine, a_turn(text="Hello"))) == "Second."
    assert chat.stopped


async def test_cancelling_the_task_of_a_turn_stops_the_model(loaded):
    chat = FakeChat(tuple("abc " * 500), pause_s=0.02)
    engine = await loaded(chat=chat)
    task = asyncio.create_task(events_of(engine, a_turn(text="Hello")))
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0.1)
    assert chat.stopped


async def test_closing_ends_every_thread_even_in_mid_turn(loaded):
    before = set(threading.enumerate())
    engine = await loaded(chat=FakeChat(tuple("abc " * 500), pause_s=0.02))
    task = asyncio.create_task(events_of(engine, a_turn(text="Hello")))
    await asyncio.sleep(0.2)
    await engine.close()
    await engine.close()
    task.cancel()
    await asyncio.wait({task})
    names = [thread.name for thread in set(threading.enumerate()) - before]
    assert not [name for name in names if name.startswith("embedded")]


async def test_health_tells_a_dead_model_and_a_closed_engine(loaded):
    chat = FakeChat()
    engine = await loaded(chat=chat)
    await engine.health()
    chat.healthy = False
    with pytest.raises(EngineFailed):
        await engine.health()
    await engine.close()
    with pytest.raises(EngineFailed):
        await engine.health()


async def test_loading_tells_its_progress_up_to_the_end():
    from tests.engines.embedded.doubles import fake_engine

    engine, told = fake_engine(), []
    await engine.load(lambda share, words: told.append(share))
    await engine.close()
    assert told == sorted(told)
    assert told[0] == 0.0
    assert told[-1] == 1.0


async def test_the_oldest_exchanges_are_left_out_when_the_context_is_full(loaded):
    chat = FakeChat(context=400)
    engine = await loaded(chat=chat)
    history = tuple(Exchange(f"question {n} " * 3, f"answer {n} " * 3) for n in range(20))
    settings = TurnSettings(max_reply_tokens=50)
    await events_of(engine, a_turn(text="Now?", history=history, settings=settings))
    prompt = chat.prompts[-1]
    assert chat.fits(prompt, 350)
    assert "answer 19" in words_of(prompt)
    assert "answer 0" not in words_of(prompt)
    assert prompt[-1]["content"] == "Now?"


async def test_text_beyond_the_context_is_refused_before_any_model_work(loaded):
    chat, recognizer = FakeChat(context=400), FakeRecognizer()
    engine = await loaded(chat=chat, recognizer=recognizer)
    chat.prompts.clear()
    with pytest.raises(TurnRefused) as refusal:
        await events_of(engine, a_turn(text="word " * 200, audio=a_clip()))
    assert (refusal.value.code, refusal.value.field) == ("text_too_long", "text")
    assert not chat.prompts


async def test_a_recording_with_more_words_than_fit_is_answered_from_its_end(loaded):
    chat = FakeChat(context=400)
    recognizer = FakeRecognizer(("start " * 200, "and the number is four."))
    engine = await loaded(chat=chat, recognizer=recognizer)
    events = await events_of(engine, a_turn(audio=a_clip()))
    assert chat.prompts[-1][-1]["content"].endswith("and the number is four.")
    assert [event.code for event in only(events, Notice)] == ["question_shortened"]


async def test_a_model_that_sees_gets_few_pictures_and_no_notes(loaded):
    chat, eyes = FakeChat(sees=True, context=1_000_000), FakeEyes()
    engine = await loaded(chat=chat, eyes=eyes)
    noise = np.random.default_rng(0).integers(0, 255, (8, 90, 160, 3), dtype=np.uint8)
    events = await events_of(engine, a_turn(text="What is it?", frames=frames_of(noise, 2.0)))
    parts = chat.prompts[-1][-1]["content"]
    assert [part["type"] for part in parts] == ["image_url"] * 3 + ["text"]
    assert parts[0]["image_url"]["url"].startswith("data:image/jpeg;base64,")
    assert parts[-1]["text"] == "What is it?"
    assert engine.capabilities.sees_pictures
    assert not only(events, SceneNotes)
    assert eyes.looks == 0


async def test_the_model_is_told_the_language_that_the_voice_speaks(loaded):
    chat, voice = FakeChat(), FakeVoice()
    voice.language = "German"
    await events_of(await loaded(chat=chat, voice=voice), a_turn(text="Hello"))
    assert chat.prompts[-1][0]["content"].endswith(" Answer questions in German.")


async def test_the_voice_speaks_at_the_speed_of_the_turn(loaded):
    voice = FakeVoice()
    engine = await loaded(voice=voice)
    await events_of(engine, a_turn(text="Hello", settings=TurnSettings(voice_speed=1.5)))
    assert voice.speeds == [1.5]
