"""A task becomes a request, and its outputs become what the person sees and hears."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import numpy as np
import pytest

from backend.contract.errors import TurnRefused
from backend.contract.events import (
    Captions,
    Cue,
    Event,
    Notice,
    Reasoning,
    ReplyText,
    SpeechChunk,
    StageProgress,
    StageStarted,
    StageTiming,
    TaskSent,
)
from backend.contract.media import AudioClip
from backend.contract.tasks import TASKS, EarlierTurn, TaskRequest
from backend.contract.turn import Turn, TurnSettings
from backend.engines.events import events_of
from backend.engines.failures import StageFailed
from backend.engines.omni.mimo import reply as reply_module
from backend.engines.omni.mimo import work as work_module
from backend.engines.omni.mimo.work import TaskWork
from tests.engines.omni.mimo.scripted_omni import (
    ScriptedOmni,
    groups,
    no_sound,
    pipeline,
    sound,
    sounded,
    wrote,
)
from tests.engines.omni.mimo.sounds import clip

LONG = TurnSettings(max_reply_tokens=2048)
SAY = TaskRequest("tts_sft", text="Hello there.")
SPOKEN = (
    wrote("Hello there"), wrote("."), groups(5), sounded(5), wrote("<|eot|>"), groups(2),
    wrote("", finish="stop"), sounded(2, seed=1),
)  # fmt: skip


def telling(
    omni: ScriptedOmni, request: TaskRequest, settings: TurnSettings = LONG, **setup: object
) -> AsyncIterator[Event]:
    turn = Turn("session", 0, task=request, settings=settings)
    made = pipeline(omni, **setup)
    return events_of(lambda emit: TaskWork(turn, made, emit).run())


async def told(omni: ScriptedOmni, request: TaskRequest, *settings: object, **setup: object):
    return [event async for event in telling(omni, request, *settings, **setup)]


def of(events: list[Event], kind: type) -> list:
    return [event for event in events if isinstance(event, kind)]


def answer(events: list[Event]) -> str:
    return "".join(event.delta for event in of(events, ReplyText))


def heard(events: list[Event]) -> np.ndarray:
    return np.concatenate([event.pcm for event in of(events, SpeechChunk)])


async def test_words_sound_and_captions_come_as_they_are_made():
    events = await told(ScriptedOmni(*SPOKEN), SAY)
    assert answer(events) == "Hello there."
    assert np.array_equal(heard(events), np.concatenate([sound(5), sound(2, 1)]))
    assert of(events, SpeechChunk)[0].sample_rate == 24_000
    assert of(events, Captions)[-1].cues == (Cue(0.0, 1.12, "Hello there."),)
    order = [type(event) for event in events]
    assert order[:2] == [TaskSent, StageStarted]
    first_sound, last_words = order.index(SpeechChunk), order[::-1].index(SpeechChunk)
    assert first_sound < len(order) - 1 - last_words
    assert [event.stage for event in of(events, StageStarted)] == ["think", "speak"]


async def test_captions_are_told_again_only_when_they_have_changed():
    outputs = (wrote("One two."), groups(5), groups(5), wrote(" Three."), groups(5))
    events = await told(ScriptedOmni(*outputs, wrote("", finish="stop")), SAY)
    texts = [[cue.text for cue in event.cues] for event in of(events, Captions)]
    assert texts == [["One two."], ["One two.", "Three."]]


async def test_both_stages_tell_the_times_that_the_engine_measured():
    events = await told(ScriptedOmni(*SPOKEN), SAY)
    times = [(e.stage, e.queue_s, e.first_output_s, e.total_s) for e in of(events, StageTiming)]
    assert times == [("think", 0.001, 0.01, 0.02), ("sound", 0.001, 0.01, 0.02)]


async def test_what_is_sent_is_told():
    omni = ScriptedOmni(wrote("Yes.", finish="stop"))
    voice, clips = clip(2.0), [clip(1.0), clip(0.5)]
    request = TaskRequest(
        "spoken_dialogue_sft_multiturn",
        voice=voice,
        clip=clips[1],
        history=(EarlierTurn(clip=clips[0], answer="Hi."),),
    )
    sent = of(await told(omni, request), TaskSent)[0]
    assert sent.clips_s == (2.0, 1.0, 0.5)
    assert sent.prompt == omni.sent[0].prompt["prompt"]
    assert sent.limit == 8192
    assert 0 < sent.tokens < 100
    assert sent.sampling["temperature"] == 0.0
    assert omni.sent[0].params[0].items() >= sent.sampling.items()


async def test_every_task_asks_for_sound_only_where_it_speaks():
    inputs = {
        "text": "Say this.", "instruct": "softly", "voice": clip(), "clip": clip(),
        "question": "Why?",
    }  # fmt: skip
    for name, kind in TASKS.items():
        for variant, way in {"": kind, **kind.variants}.items():
            given = {part: inputs[part] for part in way.required}
            omni = ScriptedOmni(wrote("Yes.", finish="stop"))
            await told(omni, TaskRequest(name, variant, **given))
            assert omni.sent[0].ends_with == (["text", "audio"] if way.speaks else ["text"])
            greedy = omni.sent[0].params[0]["temperature"] == 0
            assert greedy or not way.speaks


async def test_a_reply_that_is_wanted_in_words_alone_is_not_asked_for_sound():
    omni = ScriptedOmni(wrote("Hello."), groups(5), wrote("", finish="stop"))
    events = await told(omni, SAY, TurnSettings(spoken=False))
    assert omni.sent[0].ends_with == ["text"]
    assert not of(events, Captions)
    assert [event.stage for event in of(events, StageStarted)] == ["think"]


@pytest.mark.parametrize(
    ("settings", "thinking", "sampled"),
    [
        (TurnSettings(max_reply_tokens=99), {}, {"max_tokens": 99, "seed": 42}),
        (TurnSettings(max_reply_tokens=99), {"max_tokens": 50}, {"max_tokens": 50}),
        (TurnSettings(seed=7), {"repetition_penalty": 1.0}, {"seed": 7, "repetition_penalty": 1.0}),
    ],
)
async def test_sampling_is_the_tasks_own_with_what_was_set(settings, thinking, sampled):
    omni = ScriptedOmni(wrote("Hi.", finish="stop"))
    await told(omni, SAY, settings, **thinking)
    assert omni.sent[0].params[0].items() >= sampled.items()
    assert omni.sent[0].params[0]["skip_special_tokens"] is False


async def test_a_short_context_has_room_for_a_prompt_however_long_a_reply_may_be():
    omni = ScriptedOmni(wrote("Hi.", finish="stop"))
    await told(omni, SAY, TurnSettings(max_reply_tokens=5000), context=400)
    assert omni.sent[0].params[0]["max_tokens"] == 200


async def test_reasoning_is_told_apart_from_the_answer():
    omni = ScriptedOmni(wrote("He laughs."), wrote("</thi"), wrote("nk>Joy.", finish="stop"))
    request = TaskRequest(
        "audio_understanding_sft_with_thinking", clip=clip(), question="What does he feel?"
    )
    events = await told(omni, request)
    assert "".join(event.delta for event in of(events, Reasoning)) == "He laughs."
    assert answer(events) == "Joy."


async def test_reasoning_without_an_end_is_told():
    request = TaskRequest("text_dialogue_sft_multiturn", "thinking", text="Why?")
    events = await told(ScriptedOmni(wrote("Well, so", finish="length")), request)
    assert answer(events) == ""
    assert [event.code for event in of(events, Notice)] == ["reasoning_unfinished"]


async def test_a_reply_that_is_cut_at_the_longest_is_told():
    events = await told(ScriptedOmni(wrote("And then", finish="length"), no_sound()), SAY)
    assert [event.code for event in of(events, Notice)] == ["reply_cut"]
    events = await told(ScriptedOmni(*SPOKEN), SAY)
    assert not of(events, Notice)


async def test_the_language_of_a_transcript_is_told_and_not_written():
    omni = ScriptedOmni(wrote("<chinese>你好", finish="stop"))
    events = await told(omni, TaskRequest("audio_trancribing_sft", "clean", clip=clip()))
    assert answer(events) == "你好"
    assert [(event.code, event.text) for event in of(events, Notice)] == [
        ("language", "The language is Chinese.")
    ]


async def test_a_last_chunk_that_is_sent_twice_is_heard_once():
    outputs = (wrote("Hi."), groups(10), sounded(5), sounded(5, 1), wrote("", finish="stop"))
    events = await told(ScriptedOmni(*outputs, sounded(5, 1)), SAY)
    assert np.array_equal(heard(events), np.concatenate([sound(5), sound(5, 1)]))


async def test_a_spoken_task_whose_reply_has_no_sound_ends_with_its_words():
    omni = ScriptedOmni(wrote("Only words.", finish="stop"), no_sound())
    waits = asyncio.Event()
    omni.before = lambda number: waits.wait() if number else asyncio.sleep(0)
    events = await asyncio.wait_for(told(omni, SAY), 5)
    assert answer(events) == "Only words."
    assert omni.running == set()


async def test_the_oldest_turns_are_left_out_where_there_is_no_room():
    history = tuple(EarlierTurn(text=f"word{n} " * 100, answer="Yes.") for n in range(10))
    omni = ScriptedOmni(wrote("Yes.", finish="stop"))
    request = TaskRequest("text_dialogue_sft_multiturn", text="And now?", history=history)
    events = await told(omni, request, TurnSettings(max_reply_tokens=100), context=600)
    sent = of(events, TaskSent)[0]
    assert sent.left_out == 6
    assert sent.tokens <= 500
    assert "word9" in omni.sent[0].prompt["prompt"]
    assert "word5" not in omni.sent[0].prompt["prompt"]
    assert [event.code for event in of(events, Notice)] == ["history_cut"]


async def test_a_turn_that_is_stopped_ends_its_request_in_the_engine():
    omni, begun = ScriptedOmni(*SPOKEN), asyncio.Event()

    async def wait_for_ever(number: int) -> None:
        if number == 4:
            begun.set()
            await asyncio.Event().wait()

    omni.before = wait_for_ever
    turn = asyncio.create_task(told(omni, SAY))
    await asyncio.wait_for(begun.wait(), 5)
    turn.cancel()
    await asyncio.wait({turn}, timeout=5)
    assert turn.cancelled()
    assert omni.running == set()


async def test_clips_of_any_rate_reach_the_model_at_its_own():
    omni = ScriptedOmni(wrote("Hello.", finish="stop"))
    slow = AudioClip(np.full(8000, 0.1, np.float32), 8000)
    unheard = EarlierTurn(clip=slow, answer="Hi.", answer_clip=AudioClip(slow.samples[:0], 8000))
    request = TaskRequest("spoken_dialogue_sft_multiturn", clip=slow, history=(unheard,))
    await told(omni, request)
    audio = omni.sent[0].prompt["multi_modal_data"]["audio"]
    assert [(len(samples), rate) for samples, rate in audio] == [(24_000, 24_000)] * 2


NAN = AudioClip(np.full(24_000, np.nan, np.float32), 24_000)
STEREO = AudioClip(np.zeros((24_000, 2), np.float32), 24_000)
FAST = AudioClip(np.zeros(24_000, np.float32), 400_000)


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (TaskRequest("sing"), "unknown_task"),
        (TaskRequest("tts_sft", "clean", text="Hi"), "unknown_variant"),
        (TaskRequest("tts_sft"), "input_missing"),
        (TaskRequest("tts_sft", text="<|empty|>"), "input_missing"),
        (TaskRequest("tts_sft", text="?!"), "nothing_to_say"),
        (TaskRequest("tts_sft", text="Hi", clip=clip()), "input_unused"),
        (TaskRequest("tts_sft", text="Hi", phrase=99), "unknown_phrase"),
        (TaskRequest("tts_sft", text="so " * 9000), "prompt_too_long"),
        (TaskRequest("audio_trancribing_sft", clip=clip(0)), "audio_empty"),
        (TaskRequest("audio_trancribing_sft", clip=clip(0.05)), "audio_too_short"),
        (TaskRequest("audio_trancribing_sft", clip=NAN), "audio_not_finite"),
        (TaskRequest("audio_trancribing_sft", clip=STEREO), "audio_format"),
        (TaskRequest("audio_trancribing_sft", clip=FAST), "audio_rate"),
        (TaskRequest("audio_trancribing_sft", clip=clip(1200)), "prompt_too_long"),
        (
            TaskRequest(
                "spoken_dialogue_sft_multiturn",
                clip=clip(),
                history=(EarlierTurn(clip=NAN, answer="Hi."),),
            ),
            "audio_not_finite",
        ),
    ],
)
async def test_what_cannot_be_worked_on_is_refused_before_the_engine_is_asked(request_, code):
    omni = ScriptedOmni(*SPOKEN)
    with pytest.raises(TurnRefused) as refusal:
        await told(omni, request_)
    assert refusal.value.code == code
    assert omni.sent == []


async def test_a_failure_of_the_engine_is_told_in_plain_words():
    async def fail(number: int) -> None:
        raise RuntimeError("CUDA error: device-side assert")

    omni = ScriptedOmni(*SPOKEN)
    omni.before = fail
    with pytest.raises(StageFailed, match="Try again"):
        await told(omni, SAY)


async def test_a_clip_that_takes_long_to_read_shows_signs_of_life(monkeypatch):
    monkeypatch.setattr(work_module, "_PROGRESS_EVERY_S", 0.01)
    omni = ScriptedOmni(wrote("Hello.", finish="stop"))
    third = asyncio.Event()
    omni.before = lambda number: third.wait()
    shares = []
    async for event in telling(omni, TaskRequest("audio_trancribing_sft", "clean", clip=clip(10))):
        if isinstance(event, StageProgress):
            shares.append(event.share)
        if len(shares) == 3:
            third.set()
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] < 1


async def test_sound_that_comes_only_at_the_end_shows_signs_of_life(monkeypatch):
    monkeypatch.setattr(reply_module, "_PROGRESS_EVERY_S", 0.01)
    outputs = (wrote("Hi."), *[groups(1)] * 8, wrote("", finish="stop"), sounded(8))
    omni = ScriptedOmni(*outputs)
    omni.before = lambda number: asyncio.sleep(0.02)
    events = await told(omni, SAY)
    assert len(of(events, StageProgress)) > 2
    assert len(of(events, SpeechChunk)) == 1
