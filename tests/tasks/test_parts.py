"""Long work is cut where it does not hurt, and nothing of it is lost."""

from __future__ import annotations

import numpy as np
import pytest

from backend.contract.media import AudioClip
from backend.contract.tasks import TaskRequest
from backend.tasks.parts import PART_CHARS, parts_of
from tests.scripted_engine import tone

RATE = 16_000
SENTENCES = [f"This is sentence number {n} of a long story about the sea." for n in range(30)]
STORY = " ".join(SENTENCES)


def spoken(text, task="tts_sft", **more):
    return [part.text for part in parts_of(TaskRequest(task, text=text, **more))]


def transcription(seconds, rest=()):
    """Speech of so many seconds, with rests of 0.4 s at those seconds."""
    samples = tone(seconds, rate=RATE)
    for at in rest:
        samples[int(at * RATE) : int((at + 0.4) * RATE)] = 0
    return TaskRequest("audio_trancribing_sft", variant="clean", clip=AudioClip(samples, RATE))


@pytest.mark.parametrize("task", ["tts_sft", "tts_sft_with_instruct", "tts_sft_with_audio"])
def test_a_long_text_is_spoken_sentence_by_sentence(task):
    parts = spoken(STORY, task)
    assert len(parts) > 3
    assert all(len(part) <= PART_CHARS for part in parts)
    assert all(part.endswith(".") for part in parts)
    assert " ".join(parts) == STORY


def test_parts_are_as_long_as_they_may_be():
    first, second, *_ = spoken(STORY)
    assert len(f"{first} {SENTENCES[0]}") > PART_CHARS
    assert second.startswith("This is sentence")


def test_a_short_text_is_not_touched():
    request = TaskRequest("tts_sft", text=" One.  Two. ")
    assert parts_of(request) == [request]


def test_a_text_without_any_end_is_cut_too():
    parts = spoken("word " * 400)
    assert all(len(part) <= PART_CHARS for part in parts)
    assert " ".join(parts).split() == ["word"] * 400
    chinese = "\u6d77" * 1000
    assert "".join(spoken(chinese)) == chinese


def test_a_part_without_words_is_left_out():
    parts = spoken(f"{STORY}\n\n{'-' * 2 * PART_CHARS}\n\nThe end.")
    assert all(any(sign.isalnum() for sign in part) for part in parts)
    assert parts[-1].endswith("The end.")


def test_all_else_of_a_request_is_in_each_part():
    voice = AudioClip(tone(1.0), RATE)
    parts = parts_of(TaskRequest("tts_sft_with_instruct", text=STORY, instruct="sad", voice=voice))
    assert {(part.task, part.instruct, part.voice) for part in parts} == {
        ("tts_sft_with_instruct", "sad", voice)
    }


def test_a_text_that_describes_its_voice_is_not_cut():
    assert len(spoken(STORY, "tts_sft_with_natural_instruction")) == 1


def test_a_long_recording_is_cut_in_its_pauses():
    request = transcription(70, rest=(24.0, 47.0))
    parts = parts_of(request)
    assert [round(part.clip.duration_s) for part in parts] == [24, 23, 23]
    assert np.array_equal(
        np.concatenate([part.clip.samples for part in parts]), request.clip.samples
    )
    assert {part.variant for part in parts} == {"clean"}


def test_a_recording_that_is_asked_about_stays_whole():
    clip = AudioClip(tone(70, rate=RATE), RATE)
    request = TaskRequest("audio_understanding_sft", clip=clip, question="Who speaks?")
    assert parts_of(request) == [request]
