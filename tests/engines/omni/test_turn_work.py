"""A turn through the pipeline, on a scripted pipeline."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from backend.contract.events import (
    Event,
    Notice,
    ReplyText,
    Silence,
    SpeechChunk,
    StageStarted,
    StageTiming,
    Transcript,
)
from backend.contract.media import AudioClip, VideoFrames
from backend.contract.turn import Turn, TurnSettings
from backend.engines.events import events_of
from backend.engines.failures import StageFailed
from backend.engines.omni.turn_work import TurnWork
from tests.engines.omni.doubles import RATE, ScriptedPipeline

NOISE = np.random.default_rng(4).normal(0, 0.1, 16_000).astype(np.float32)
CLIP = AudioClip(NOISE, 16_000)
FRAMES = VideoFrames(np.zeros((2, 32, 32, 3), np.uint8), np.array([0.0, 1.0]), 1.0)


async def events(pipeline: ScriptedPipeline, **turn: object) -> list[Event]:
    asked = Turn("session", 0, **turn)
    return [e async for e in events_of(lambda emit: TurnWork(asked, pipeline, emit).run())]


def reply(told: list[Event]) -> str:
    return "".join(event.delta for event in told if isinstance(event, ReplyText))


def levels(told: list[Event]) -> list[float]:
    return [round(float(e.pcm[0]), 2) for e in told if isinstance(e, SpeechChunk)]


async def test_typed_words_are_answered_without_being_heard():
    pipeline = ScriptedPipeline()
    told = await events(pipeline, text="Hi")
    assert pipeline.questions == ["Hi"]
    assert pipeline.clips == []
    assert [e.stage for e in told if isinstance(e, StageStarted)] == ["think", "speak"]
    assert reply(told) == "Hello there."


async def test_a_spoken_question_is_heard_shown_and_answered():
    pipeline = ScriptedPipeline()
    told = await events(pipeline, audio=CLIP, text="Look:")
    heard = [(e.text, e.final) for e in told if isinstance(e, Transcript)]
    assert heard == [("A q", False), ("A question.", False), ("A question.", True)]
    assert pipeline.questions == ["Look:\nA question."]


async def test_every_stage_tells_the_times_that_the_engine_measured():
    told = await events(ScriptedPipeline("One. Two."), audio=CLIP)
    times = {e.stage: (e.first_output_s, e.total_s) for e in told if isinstance(e, StageTiming)}
    assert times == {
        "hear": (0.01, 0.02),
        "think": (0.01, 0.02),
        "speak": (0.01, 0.04),
        "sound": (0.01, 0.04),
    }


async def test_a_sentence_is_spoken_while_the_rest_is_still_being_written():
    pipeline = ScriptedPipeline(["This is the first one. ", "And the second."])
    sounded, begun = asyncio.Event(), False

    async def hold_the_second_piece() -> None:
        nonlocal begun
        if begun:
            await asyncio.wait_for(sounded.wait(), 5)
        begun = True

    pipeline.on_word = hold_the_second_piece

    async def tell(_: str) -> None:
        sounded.set()

    pipeline.on_speak = tell
    told = await events(pipeline, text="Hi")
    assert pipeline.spoken == ["This is the first one.", "And the second."]
    assert reply(told) == "This is the first one. And the second."


async def test_sentences_are_spoken_one_at_a_time_in_their_order():
    pipeline = ScriptedPipeline("Number one. Number two. Number three. Number four.")
    most = 0

    async def count(_: str) -> None:
        nonlocal most
        most = max(most, sum("think" not in name for name in pipeline.running))
        await asyncio.sleep(0.01)

    pipeline.on_speak = count
    told = await events(pipeline, text="Hi")
    assert pipeline.spoken == ["Number one.", "Number two.", "Number three.", "Number four."]
    assert most == 1
    assert levels(told) == [0.01, 0.01, 0.02, 0.02, 0.03, 0.03, 0.04, 0.04]
    assert {e.sample_rate for e in told if isinstance(e, SpeechChunk)} == {RATE}


async def test_a_reply_that_is_wanted_in_words_alone_is_not_spoken():
    pipeline = ScriptedPipeline()
    told = await events(pipeline, text="Hi", settings=TurnSettings(spoken=False))
    assert reply(told) == "Hello there."
    assert pipeline.spoken == []


@pytest.mark.parametrize("written", ["<|silent|>", "", " <|SILENT|>.\n", "<think>no</think>"])
async def test_a_silent_reply_has_a_reason_and_no_sound(written):
    pipeline = ScriptedPipeline([*written] or [""])
    told = await events(pipeline, text="Hi")
    assert [e.reason for e in told if isinstance(e, Silence)] == [
        "The assistant chose not to reply."
    ]
    assert reply(told) == ""
    assert pipeline.spoken == []


async def test_a_recording_without_sound_is_silence_before_any_model():
    pipeline = ScriptedPipeline()
    told = await events(pipeline, audio=AudioClip(np.zeros(16_000, np.float32), 16_000))
    assert [type(e) for e in told] == [Silence]
    assert pipeline.clips == []


async def test_a_recording_without_words_is_silence():
    told = await events(ScriptedPipeline(heard=""), audio=CLIP)
    assert [e.reason for e in told if isinstance(e, Silence)] == ["No speech was heard."]
    assert not any(isinstance(e, Transcript) for e in told)


async def test_a_picture_is_answered_although_nothing_was_said():
    pipeline = ScriptedPipeline(heard="")
    told = await events(pipeline, audio=CLIP, frames=FRAMES)
    assert [e.code for e in told if isinstance(e, Notice)] == ["no_speech"]
    assert pipeline.questions == [""]
    assert reply(told)


async def test_pictures_are_read_while_the_question_is_heard_and_the_reading_ends_with_the_turn():
    pipeline = ScriptedPipeline()
    await events(pipeline, audio=CLIP, frames=FRAMES)
    assert pipeline.looked.is_set()
    assert pipeline.running == set()


async def test_a_long_recording_is_heard_in_pieces_joined_in_order():
    pipeline = ScriptedPipeline(heard="Part.")
    long = AudioClip(np.tile(NOISE, 62), 16_000)
    told = await events(pipeline, audio=long)
    assert len(pipeline.clips) >= 3
    assert sum(pipeline.clips) == pytest.approx(62.0)
    final = [e.text for e in told if isinstance(e, Transcript) and e.final]
    assert final == [" ".join(["Part."] * len(pipeline.clips))]


async def test_a_failing_sentence_costs_its_sound_and_not_the_turn():
    pipeline = ScriptedPipeline("One is fine. Two breaks. Three is fine.")

    async def break_two(words: str) -> None:
        if words.startswith("Two"):
            raise RuntimeError("talker")

    pipeline.on_speak = break_two
    told = await events(pipeline, text="Hi")
    assert [e.code for e in told if isinstance(e, Notice)] == ["speech_failed"]
    assert len(levels(told)) == 4
    assert reply(told) == "One is fine. Two breaks. Three is fine."


@pytest.mark.parametrize("stage", ["hear", "think"])
async def test_a_failing_stage_fails_the_turn_in_plain_words(stage):
    pipeline = ScriptedPipeline()

    async def broken(*_: object) -> None:
        raise RuntimeError("cuda")
        yield

    setattr(pipeline, stage, broken)
    with pytest.raises(StageFailed, match="Try again"):
        await events(pipeline, audio=CLIP)
    assert pipeline.running == set()


async def test_leaving_a_turn_ends_every_request_of_it():
    pipeline = ScriptedPipeline("One. Two. Three.")

    async def hang(_: str) -> None:
        await asyncio.Event().wait()

    pipeline.on_speak = hang
    asked = Turn("session", 0, text="Hi")
    told = events_of(lambda emit: TurnWork(asked, pipeline, emit).run())
    async for event in told:
        if isinstance(event, StageStarted) and event.stage == "speak":
            break
    await told.aclose()
    assert pipeline.running == set()


async def test_what_was_heard_already_is_not_heard_again():
    pipeline = ScriptedPipeline()
    told = await events(pipeline, audio=CLIP, heard="Heard before.")
    assert [(e.text, e.final) for e in told if isinstance(e, Transcript)] == [
        ("Heard before.", True)
    ]
    assert (pipeline.clips, pipeline.questions) == ([], ["Heard before."])
