"""What came with a question, put together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from backend.contract.errors import Field, TurnRefused
from backend.media.intake import read_question
from backend.media.limits import MediaLimits

ASSETS = Path(__file__).parents[2] / "assets"
LIMITS = MediaLimits(max_audio_s=30, max_video_s=30, max_bytes=10_000_000)


def test_the_sound_of_a_video_is_the_question_when_there_is_no_other():
    question = read_question(None, ASSETS / "sign.mp4", None, LIMITS)
    assert question.audio.duration_s == pytest.approx(4.0, abs=0.2)
    assert len(question.frames.images) == 16
    assert question.attachments == ("Video, 4.0 s, 16 frames",)
    assert question.notices == ()


def test_a_recording_of_its_own_goes_before_the_sound_of_the_video():
    question = read_question(ASSETS / "question.wav", ASSETS / "sign.mp4", None, LIMITS)
    assert question.audio.duration_s == pytest.approx(3.0, abs=0.1)
    assert len(question.attachments) == 2


def test_what_the_page_recorded_is_taken_at_its_own_rate():
    samples = (np.sin(np.arange(48_000) / 20) * 8_000).astype(np.int16)
    question = read_question((samples, 48_000), None, None, LIMITS)
    assert question.audio.sample_rate == 16_000
    assert question.audio.duration_s == pytest.approx(1.0, abs=0.01)
    assert question.attachments == ("Recording, 1.0 s",)


def test_a_recording_too_short_to_hold_a_word_is_refused():
    with pytest.raises(TurnRefused) as refusal:
        read_question((np.zeros(100, np.int16), 48_000), None, None, LIMITS)
    assert refusal.value.field is Field.AUDIO


def test_nothing_gives_nothing():
    question = read_question(None, None, None, LIMITS)
    assert question.audio is None
    assert question.frames is None
