"""What tasks become for an engine whose models know none; its stages are doubles."""

from __future__ import annotations

import numpy as np
import pytest
import pytest_asyncio

from backend.contract.errors import TurnRefused
from backend.contract.events import (
    Captions,
    Notice,
    ReplyText,
    Silence,
    SpeechChunk,
    Stage,
    StageProgress,
    StageStarted,
    StageTiming,
    Transcript,
)
from backend.contract.media import AudioClip
from backend.contract.tasks import TASKS, EarlierTurn, TaskRequest
from backend.contract.turn import Exchange, TurnSettings
from backend.engines.failures import StageFailed
from backend.engines.task_turns import MAX_REPLY_TOKENS
from tests.engines.embedded.doubles import (
    FakeChat,
    FakeRecognizer,
    FakeVoice,
    a_clip,
    a_picture,
    a_turn,
    events_of,
    fake_engine,
    only,
    words_of,
)

TTS, TRANSCRIBE = "tts_sft", "audio_trancribing_sft"
SPOKEN, SPEECH_TO_TEXT, TEXT = (
    f"{kind}_dialogue_sft_multiturn" for kind in ("spoken", "speech2text", "text")
)


class QuietChat(FakeChat):
    """Keeps no prompt of its warming."""

    def reply(self, messages, max_tokens, stop, report):
        if max_tokens > 1:
            yield from super().reply(messages, max_tokens, stop, report)


class RecognizerByLength(FakeRecognizer):
    """Hears ``words`` by the rounded seconds of a clip; remembers the lengths in order."""

    def __init__(self, words):
        super().__init__()
        self.words, self.heard_s = words, []

    def transcribe(self, clip, language, stop, report):
        self.heard_s.append(clip.duration_s)
        yield from self.words[round(clip.duration_s)]


@pytest_asyncio.fixture
async def ask():
    """Ask an engine of doubles for a task; returns the events."""
    engines = []

    async def go(task, *, stages=None, settings=None, **inputs):
        engine = fake_engine(**stages or {})
        engines.append(engine)
        await engine.load(lambda share, words: None)
        request = TaskRequest(task, **inputs)
        turn = a_turn(task=request, settings=settings or TurnSettings())
        return await events_of(engine, turn)

    yield go
    for engine in engines:
        await engine.close()


def written(events):
    return "".join(event.delta for event in only(events, ReplyText))


def stages_of(events):
    return [event.stage for event in only(events, StageStarted)]


def bad_clip(samples):
    return AudioClip(np.asarray(samples, np.float32), 16_000)


async def test_a_text_is_spoken_as_it_is(ask):
    voice = FakeVoice()
    events = await ask(TTS, text="Good morning. How are you?", stages={"voice": voice})
    assert written(events) == "Good morning. How are you?"
    assert voice.said == ["Good morning.", "How are you?"]
    assert stages_of(events) == [Stage.SPEAK]


async def test_captions_last_as_long_as_the_sound_of_their_sentences(ask):
    events = await ask(TTS, text="Good morning. How are you?")
    cues = only(events, Captions)[-1].cues
    assert [cue.text for cue in cues] == ["Good morning.", "How are you?"]
    ends = [13 * 100 / FakeVoice.sample_rate, (13 + 12) * 100 / FakeVoice.sample_rate]
    assert [cue.end_s for cue in cues] == pytest.approx(ends)
    assert [cue.start_s for cue in cues] == [0.0, cues[0].end_s]
    sound = sum(len(chunk.pcm) for chunk in only(events, SpeechChunk))
    assert cues[-1].end_s == pytest.approx(sound / FakeVoice.sample_rate)


async def test_an_ordinary_reply_has_no_captions():
    engine = fake_engine()
    await engine.load(lambda share, words: None)
    assert not only(await events_of(engine, a_turn(text="Hello")), Captions)
    await engine.close()


async def test_a_recording_is_written_down_and_repeated(ask):
    voice, chat = FakeVoice(), QuietChat()
    stages = {
        "recognizer": FakeRecognizer(["The sky", "is blue."]), "voice": voice, "chat": chat,
    }  # fmt: skip
    events = await ask(TRANSCRIBE, clip=a_clip(), stages=stages)
    assert written(events) == "The sky is blue."
    assert voice.said == ["The sky is blue."]
    assert stages_of(events) == [Stage.HEAR, Stage.SPEAK]
    assert [event.stage for event in only(events, StageTiming)] == [Stage.HEAR, Stage.SPEAK]
    assert not chat.prompts


async def test_a_clean_transcript_is_not_spoken(ask):
    voice = FakeVoice()
    events = await ask(TRANSCRIBE, variant="clean", clip=a_clip(), stages={"voice": voice})
    assert written(events) == "What is the time?"
    assert not voice.said


async def test_a_long_recording_is_written_down_piece_by_piece(ask):
    recognizer = RecognizerByLength({20: ["One."], 30: ["Two."], 10: ["Three."]})
    recording = a_clip(60.0)
    recording.samples[:] = 0.5
    for second in (20, 50):  # pauses
        recording.samples[second * 16_000 - 1600 : second * 16_000 + 1600] = 0.0
    events = await ask(
        TRANSCRIBE, variant="clean", clip=recording, stages={"recognizer": recognizer}
    )
    assert [event.delta for event in only(events, ReplyText)] == ["One.", " Two.", " Three."]
    shares = [event.share for event in only(events, StageProgress)]
    assert shares == pytest.approx([1 / 3, 2 / 3, 1.0])


@pytest.mark.parametrize("variant", ["", "clean"])
@pytest.mark.parametrize("words", [[], ["..."]])
async def test_a_recording_without_words_is_said_to_be_silent(ask, variant, words):
    stages = {"recognizer": FakeRecognizer(words)}
    events = await ask(TRANSCRIBE, variant=variant, clip=a_clip(), stages=stages)
    assert [event.reason for event in only(events, Silence)] == ["No speech was heard."]
    assert not only(events, SpeechChunk)


async def test_a_typed_message_is_answered_in_writing_with_its_history(ask):
    chat, voice = QuietChat(), FakeVoice()
    history = (EarlierTurn("My name is Ada.", answer="Hello Ada."),)
    events = await ask(
        TEXT, text="What is my name?", history=history, stages={"chat": chat, "voice": voice}
    )
    assert written(events) == "It is noon."
    assert not voice.said
    [prompt] = chat.prompts
    assert [message["content"] for message in prompt[1:]] == [
        "My name is Ada.", "Hello Ada.", "What is my name?",
    ]  # fmt: skip


async def test_a_spoken_question_is_answered_in_writing(ask):
    chat, voice = QuietChat(), FakeVoice()
    events = await ask(
        SPEECH_TO_TEXT,
        variant="no_thinking",
        clip=a_clip(),
        stages={"chat": chat, "voice": voice},
    )
    assert only(events, Transcript)[-1].text == "What is the time?"
    assert chat.prompts[0][-1]["content"] == "What is the time?"
    assert written(events) == "It is noon."
    assert not voice.said
    assert not only(events, Notice)


async def test_a_spoken_question_is_answered_aloud_as_instructed(ask):
    chat, voice = QuietChat(), FakeVoice()
    events = await ask(
        SPOKEN,
        clip=a_clip(),
        system_prompt="You are a pirate.",
        stages={"chat": chat, "voice": voice},
    )
    assert "You are a pirate." in chat.prompts[0][0]["content"]
    assert "".join(voice.said) == "It is noon."
    assert "".join(cue.text for cue in only(events, Captions)[-1].cues) == "It is noon."


async def test_the_usual_instructions_hold_where_the_task_has_none(ask):
    chat = QuietChat()
    settings = TurnSettings(system_prompt="Be brief.")
    await ask(SPOKEN, clip=a_clip(), settings=settings, stages={"chat": chat})
    assert "Be brief." in chat.prompts[0][0]["content"]


async def test_earlier_turns_that_are_not_written_down_are_heard(ask):
    recognizer = RecognizerByLength({2: ["I like tea."], 3: ["So do I."], 1: ["What do I like?"]})
    chat = QuietChat()
    history = (
        EarlierTurn(clip=a_clip(2), answer_clip=a_clip(3)),
        EarlierTurn("And cake.", clip=a_clip(4), answer="Me too.", answer_clip=a_clip(5)),
    )
    stages = {"recognizer": recognizer, "chat": chat}
    events = await ask(SPOKEN, clip=a_clip(1), history=history, stages=stages)
    assert recognizer.heard_s == [2, 3, 1]
    assert [message["content"] for message in chat.prompts[0][1:]] == [
        "I like tea.", "So do I.", "And cake.", "Me too.", "What do I like?",
    ]  # fmt: skip
    assert only(events, Transcript)[-1].text == "What do I like?"


async def test_an_answer_that_was_cut_off_at_once_has_no_words(ask):
    recognizer, chat = RecognizerByLength({1: ["Hello?"]}), QuietChat()
    history = (EarlierTurn("Hi.", answer_clip=a_clip(0.05)),)
    stages = {"recognizer": recognizer, "chat": chat}
    await ask(SPOKEN, clip=a_clip(1), history=history, stages=stages)
    assert recognizer.heard_s == [1]
    assert [message["content"] for message in chat.prompts[0][1:]] == ["Hello?"]


@pytest.mark.parametrize(
    ("task", "inputs"),
    [
        (SPEECH_TO_TEXT, {"clip": a_clip()}),
        (TEXT, {"text": "Why?", "variant": "thinking"}),
    ],
)
async def test_it_says_that_it_answers_without_reasoning(ask, task, inputs):
    events = await ask(task, **inputs)
    assert [event.code for event in only(events, Notice)] == ["no_reasoning"]
    assert written(events) == "It is noon."


async def test_a_reply_is_not_as_long_as_minutes_of_sound_are_in_tokens(ask):
    chat = QuietChat(tuple("forever " for _ in range(2048)))
    settings = TurnSettings(max_reply_tokens=2048)
    events = await ask(TEXT, text="Go on.", settings=settings, stages={"chat": chat})
    assert len(only(events, ReplyText)) == MAX_REPLY_TOKENS


async def test_nothing_else_of_the_turn_counts(ask):
    chat = QuietChat()
    engine = fake_engine(chat=chat)
    await engine.load(lambda share, words: None)
    turn = a_turn(
        text="Not this.",
        frames=a_picture(),
        audio=a_clip(),
        history=(Exchange("Nor this.", "No."),),
        task=TaskRequest(TEXT, text="This."),
    )
    events = await events_of(engine, turn)
    assert words_of(chat.prompts[0][1:]) == "This."
    assert {event.turn_id for event in events} == {turn.id}
    await engine.close()


@pytest.mark.parametrize(
    ("task", "inputs", "code", "field"),
    [
        ("nonsense", {"text": "Hi"}, "unknown_task", "settings"),
        (TTS, {"text": "Hi", "variant": "nonsense"}, "unknown_variant", "settings"),
        (TTS, {}, "input_missing", "text"),
        (TTS, {"text": " \n"}, "input_missing", "text"),
        (TTS, {"text": "…!"}, "nothing_to_say", "text"),
        (TTS, {"text": "Hi", "question": "Why?"}, "input_unused", "text"),
        (TTS, {"text": "Hi", "settings": TurnSettings(voice_speed=9)}, "voice_speed", "settings"),
        (TRANSCRIBE, {}, "input_missing", "audio"),
        (TRANSCRIBE, {"clip": bad_clip([])}, "audio_empty", "audio"),
        (TRANSCRIBE, {"clip": bad_clip([np.nan] * 9000)}, "audio_not_finite", "audio"),
        (TRANSCRIBE, {"clip": a_clip(0.09)}, "audio_too_short", "audio"),
        (
            TRANSCRIBE,
            {"clip": a_clip(), "settings": TurnSettings(language="de")},
            "unknown_language",
            "settings",
        ),
        (SPOKEN, {"clip": a_clip(), "voice": a_clip()}, "voice_mode", "voice"),
        (
            SPOKEN,
            {"clip": a_clip(), "history": (EarlierTurn(clip=bad_clip([np.inf] * 9000)),)},
            "audio_not_finite",
            "turn",
        ),
        (TEXT, {"text": "word " * 2000}, "text_too_long", "text"),
        (TEXT, {"text": "Hi", "clip": a_clip()}, "input_unused", "audio"),
    ],
)
async def test_what_cannot_be_worked_on_is_refused_before_any_model(ask, task, inputs, code, field):
    recognizer, chat, voice = RecognizerByLength({}), QuietChat(), FakeVoice()
    stages = {"recognizer": recognizer, "chat": chat, "voice": voice}
    with pytest.raises(TurnRefused) as refusal:
        await ask(task, stages=stages, **inputs)
    assert (refusal.value.code, refusal.value.field) == (code, field)
    assert (recognizer.heard_s, chat.prompts, voice.said) == ([], [], [])


@pytest.mark.parametrize("task", [name for name in TASKS if name.startswith("tts_sft_")])
async def test_a_task_beyond_the_models_is_refused_with_what_would_do_it(ask, task):
    with pytest.raises(TurnRefused, match=r"deploy/mimo_audio\.yaml") as refusal:
        await ask(task, text="Hi")
    assert refusal.value.code == "task_not_offered"


async def test_a_recording_that_breaks_the_recogniser_fails_in_plain_words(ask):
    stages = {"recognizer": RecognizerByLength({})}
    with pytest.raises(StageFailed, match="could not be turned into words"):
        await ask(TRANSCRIBE, clip=a_clip(), stages=stages)
