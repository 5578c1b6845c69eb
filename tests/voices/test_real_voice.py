"""The check with speech made by the built-in voice and words heard by the built-in recogniser."""

from __future__ import annotations

import numpy as np
import pytest
import soxr

from backend.contract.media import AudioClip
from backend.engines.embedded.models import find_recognizer, find_voice
from backend.engines.embedded.recognizer import WhisperRecognizer
from backend.engines.embedded.stages import StopSignal
from backend.engines.embedded.voice import PiperSpeaker
from backend.voices.preflight import examine
from backend.voices.quality import similarity, word_error_rate
from backend.voices.speaker import load_encoder
from tests.voices.recordings import another_voice, at_level, clip

pytestmark = pytest.mark.embedded

FIRST = "The old harbour is quiet in the early morning, before the first boats come in."
SECOND = "Seven people walked slowly across the wide field, and nobody said a word."


@pytest.fixture(scope="module")
def say():
    """Speech at 16 kHz for words; each text is spoken once."""
    voice = PiperSpeaker(lambda: find_voice(None))
    voice.load()
    said = {}

    def speak(text: str) -> np.ndarray:
        if text not in said:
            sound = np.concatenate(list(voice.speak(text, 1.0, StopSignal())))
            said[text] = soxr.resample(sound, voice.sample_rate, 16_000).astype(np.float32)
        return said[text]

    yield speak
    voice.close()


@pytest.fixture(scope="module")
def hear():
    """The words of a clip."""
    recognizer = WhisperRecognizer(lambda: find_recognizer(""), threads=2)
    recognizer.load()

    def words(part: AudioClip) -> str:
        return " ".join(recognizer.transcribe(part, "en", StopSignal()))

    yield words
    recognizer.close()


def findings(samples: np.ndarray, words: str, hear):
    report = examine(clip(samples), words, range_s=(1.0, 30.0), hear=hear, encoder=load_encoder())
    return report, {found.code: found for found in report.findings}


def test_the_right_words_in_another_spelling_pass(say, hear):
    report, found = findings(say(SECOND), SECOND.lower().replace("seven", "7"), hear)
    assert report.usable
    assert not {"text_differs", "text_missing"} & set(found)


def test_speech_as_quiet_as_a_whisper_far_away_is_understood(say, hear):
    report, found = findings(at_level(say(FIRST), -55), FIRST, hear)
    assert report.usable
    assert "text_differs" not in found
    assert "quiet" in found


def test_half_the_words_are_found_out(say, hear):
    _, found = findings(say(FIRST), "The old harbour is quiet.", hear)
    assert "boats" in found["text_differs"].text


def test_the_words_of_another_clip_are_found_out(say, hear):
    _, found = findings(say(FIRST), SECOND, hear)
    assert "another clip" in found["text_differs"].text


def test_the_heard_words_can_be_used_as_they_are(say, hear):
    report, _ = findings(say(FIRST), "", hear)
    assert word_error_rate(FIRST, report.heard) < 0.15
    again, _ = findings(say(FIRST), report.heard, hear)
    assert again.usable


def test_two_takes_of_a_voice_are_alike_and_another_voice_is_not(say):
    encoder = load_encoder()
    same = similarity(clip(say(FIRST)), clip(say(SECOND)), encoder)
    other = similarity(clip(say(FIRST)), clip(another_voice(say(SECOND))), encoder)
    assert same > 0.8
    assert other < same - 0.15


def test_silence_is_like_no_voice(say):
    assert similarity(clip(np.zeros(16_000)), clip(say(FIRST)), load_encoder()) == 0.0
