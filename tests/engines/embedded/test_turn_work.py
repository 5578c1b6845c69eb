"""How a turn goes through the stages; the stages are doubles."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from backend.contract.errors import TurnRefused
from backend.contract.events import (
    Notice,
    ReplyText,
    SceneNotes,
    Silence,
    SpeechChunk,
    Stage,
    StageProgress,
    StageStarted,
    StageTiming,
    Transcript,
)
from backend.contract.turn import Exchange, TurnSettings
from backend.engines.embedded import telling
from backend.engines.failures import StageFailed
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


async def test_what_was_heard_already_is_not_heard_again(loaded):
    engine = await loaded(recognizer=FakeRecognizer(("Never asked.",)))
    turn = replace(a_turn(audio=a_clip()), heard="What is the time?")
    events = await events_of(engine, turn)
    assert [(event.text, event.final) for event in only(events, Transcript)] == [
        ("What is the time?", True)
    ]
    assert written(events) == "It is noon."


async def test_a_script_is_spoken_as_it_is_and_nothing_is_thought_up(loaded):
    chat, voice = FakeChat(), FakeVoice()
    engine = await loaded(chat=chat, voice=voice)
    chat.prompts.clear()
    events = await events_of(engine, a_turn(script="It is noon. The sun is high."))
    assert voice.said == ["It is noon.", "The sun is high."]
    assert written(events) == "It is noon. The sun is high."
    assert [event.stage for event in only(events, StageTiming)] == [Stage.SPEAK]
    assert not chat.prompts


async def test_a_script_that_cannot_be_spoken_fails(loaded):
    engine = await loaded(voice=FakeVoice(error=RuntimeError("broken")))
    with pytest.raises(StageFailed, match="voice failed"):
        await events_of(engine, a_turn(script="It is noon."))


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ({"script": " ?! "}, "nothing_to_say"),
        ({"script": "Hello.", "text": "Hello."}, "script_and_question"),
        ({"script": "Hello.", "audio": a_clip()}, "script_and_question"),
    ],
)
async def test_a_script_is_words_and_nothing_else(loaded, parts, code):
    engine = await loaded()
    with pytest.raises(TurnRefused) as refusal:
        await events_of(engine, a_turn(**parts))
    assert refusal.value.code == code


async def test_words_are_heard_outside_any_turn(loaded):
    engine = await loaded(recognizer=FakeRecognizer(("One.", "Two.")))
    assert await engine.hear(a_clip(), "en") == "One. Two."


async def test_what_will_probably_be_asked_is_read_and_not_spoken(loaded):
    chat, voice = FakeChat(), FakeVoice()
    engine = await loaded(chat=chat, voice=voice)
    chat.prompts.clear()
    await engine.foresee(replace(a_turn(), heard="What is the largest?"))
    assert [messages[-1]["content"] for messages in chat.prompts] == ["What is the largest?"]
    assert not voice.said


async def test_what_is_shown_while_the_person_speaks_is_looked_at_once(loaded):
    chat, eyes = FakeChat(), FakeEyes("A desk.")
    engine = await loaded(chat=chat, eyes=eyes)
    shown, question = a_picture(), "What is this?"
    chat.prompts.clear()
    await engine.foresee(replace(a_turn(), heard=question, frames=shown))
    events = await events_of(engine, a_turn(text=question, frames=shown))
    assert [event.text for event in only(events, SceneNotes)] == ["A desk."]
    assert eyes.looks == 1
    assert chat.prompts[0] == chat.prompts[1]
    assert "A desk." in chat.prompts[0][-1]["content"]


async def test_nothing_is_read_ahead_while_a_turn_is_under_way(loaded):
    chat = FakeChat(pause_s=0.05)
    engine = await loaded(chat=chat)
    chat.prompts.clear()
    async for _ in engine.run(a_turn(text="Hello")):
        await engine.foresee(replace(a_turn(), heard="What is"))
    assert len(chat.prompts) == 1


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
        def transcribe(self, clip, language, stop, report):
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


async def test_a_turn_goes_on_without_notes_when_the_eyes_fail(loaded, caplog):
    chat = FakeChat()
    engine = await loaded(eyes=FakeEyes(error=RuntimeError("onnxruntime: bad shape")), chat=chat)
    events = await events_of(engine, a_turn(text="What is it?", frames=a_picture()))
    notices = only(events, Notice)
    assert [event.code for event in notices] == ["eyes_failed"]
    assert "onnxruntime" not in notices[0].text
    assert "onnxruntime" in caplog.text
    assert not only(events, SceneNotes)
    assert written(events) == "It is noon."
    assert chat.prompts[-1][-1]["content"] == "What is it?"


async def test_a_failing_recogniser_fails_its_turn_in_plain_words(loaded):
    error = RuntimeError("ctranslate2: bad alloc")

    class FailingRecognizer(FakeRecognizer):
        def transcribe(self, clip, language, stop, report):
            raise error

    engine = await loaded(recognizer=FailingRecognizer())
    with pytest.raises(StageFailed, match="could not be turned into words") as failure:
        await events_of(engine, a_turn(audio=a_clip()))
    assert failure.value.__cause__ is error


async def test_a_failing_model_fails_its_turn_and_not_the_next(loaded):
    chat = FakeChat()
    engine = await loaded(chat=chat)
    chat.error = RuntimeError("ggml: out of memory")
    with pytest.raises(StageFailed, match="The chat model failed") as failure:
        await events_of(engine, a_turn(text="Hello"))
    assert "ggml" not in str(failure.value)
    assert failure.value.__cause__ is chat.error
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


async def test_a_stage_that_is_slow_to_stop_keeps_its_turn_however_often_it_is_cancelled(loaded):
    inside, release = threading.Event(), threading.Event()

    class StuckRecognizer(FakeRecognizer):
        def transcribe(self, clip, language, stop, report):
            inside.set()
            release.wait(10)
            yield "late"

    engine = await loaded(recognizer=StuckRecognizer())
    task = asyncio.create_task(events_of(engine, a_turn(audio=a_clip())))
    await asyncio.to_thread(inside.wait, 5)
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0.05)
        assert not task.done()
    release.set()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 5)
    assert written(await events_of(engine, a_turn(text="Hello"))) == "It is noon."


async def test_long_silent_work_tells_its_progress_but_not_too_often(loaded, monkeypatch):
    monkeypatch.setattr(telling, "PROGRESS_EVERY_S", 0.1)

    class SlowChat(FakeChat):
        def reply(self, messages, max_tokens, stop, report):
            for batch in range(1, 31):
                time.sleep(0.01)
                report(batch / 30)
            yield from super().reply(messages, max_tokens, stop, report)

    class SlowRecognizer(FakeRecognizer):
        def transcribe(self, clip, language, stop, report):
            time.sleep(0.15)
            report(0.5)
            yield "What?"

    engine = await loaded(chat=SlowChat(), recognizer=SlowRecognizer())
    told = only(await events_of(engine, a_turn(audio=a_clip())), StageProgress)
    assert (told[0].stage, told[0].share) == (Stage.HEAR, 0.5)
    shares = [event.share for event in told if event.stage is Stage.THINK]
    assert 1 <= len(shares) <= 3
    assert shares == sorted(shares)
    assert all(0 < share <= 1 for share in shares)


async def test_a_stage_that_hangs_tells_no_progress(loaded, monkeypatch):
    monkeypatch.setattr(telling, "PROGRESS_EVERY_S", 0.01)

    class HangingRecognizer(FakeRecognizer):
        def transcribe(self, clip, language, stop, report):
            time.sleep(0.3)
            yield "What?"

    engine = await loaded(recognizer=HangingRecognizer())
    assert not only(await events_of(engine, a_turn(audio=a_clip())), StageProgress)


async def test_the_wait_for_a_stages_thread_is_told_as_its_queue(loaded):
    engine = await loaded()
    busy = engine._crew.hear.submit(lambda: time.sleep(0.2))
    events = await events_of(engine, a_turn(audio=a_clip()))
    assert busy.done()
    queues = {event.stage: event.queue_s for event in only(events, StageTiming)}
    assert 0.1 < queues[Stage.HEAR] < 1
    assert 0 <= queues[Stage.THINK] < 0.1


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


async def test_the_voice_speaks_at_the_speed_and_pitch_of_the_turn(loaded):
    voice = FakeVoice()
    engine = await loaded(voice=voice)
    settings = TurnSettings(voice_speed=1.5, voice_pitch=-2.5)
    await events_of(engine, a_turn(text="Hello", settings=settings))
    assert (voice.speeds, voice.pitches) == ([1.5], [-2.5])
