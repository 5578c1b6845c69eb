"""From sound to signs, with the real speech detector."""

from __future__ import annotations

import numpy as np
import pytest

from backend.realtime.turn_detector import (
    MaybeSpeech,
    SpeechEnded,
    SpeechPaused,
    SpeechResumed,
    SpeechStarted,
    TurnDetector,
)
from tests.realtime.sounds import RATE, coughs, keyboard, music, pause, speech


def signs_of(detector: TurnDetector, *sounds: np.ndarray, piece: int = 700) -> list:
    """Feed the sounds in pieces until the utterance ends; the signs up to there."""
    sound, signs = np.concatenate(sounds), []
    for start in range(0, len(sound), piece):
        signs += detector.feed(sound[start : start + piece])
        if any(isinstance(sign, SpeechEnded) for sign in signs):
            break
    return signs


def test_an_utterance_begins_pauses_and_ends():
    signs = signs_of(TurnDetector(30), pause(0.5), speech(), pause(2))
    kinds = [type(sign) for sign in signs]
    assert kinds[:2] == [MaybeSpeech, SpeechStarted]
    assert kinds[-2:] == [SpeechPaused, SpeechEnded]


def test_its_ends_are_where_the_speech_is():
    said = speech()
    signs = signs_of(TurnDetector(30), pause(0.5), said, pause(2))
    assert signs[1].at_s == pytest.approx(0.6, abs=0.25)
    assert signs[-1].at_s == pytest.approx(0.5 + len(said) / RATE, abs=0.6)


def test_the_utterance_holds_all_of_the_speech():
    detector, said = TurnDetector(30), speech()
    signs_of(detector, pause(0.5), said, pause(2))
    kept = detector.utterance
    at = int(np.argmax(np.correlate(kept, said[8000:16000], "valid")))
    assert np.array_equal(kept[at : at + 8000], said[8000:16000])


def test_a_patient_detector_takes_a_pause_for_one():
    detector = TurnDetector(30)
    detector.patience_s = 2.0
    signs = signs_of(detector, pause(0.3), speech(), pause(0.3), speech(), pause(3))
    assert SpeechResumed in [type(sign) for sign in signs]
    assert len(detector.utterance) > 2 * len(speech())


def test_nobody_speaks_for_ever():
    detector = TurnDetector(1.0)
    signs = signs_of(detector, pause(0.3), speech())
    assert isinstance(signs[-1], SpeechEnded)
    assert len(detector.utterance) <= 1.1 * RATE


def test_after_a_reset_the_next_utterance_is_heard():
    detector = TurnDetector(30)
    signs_of(detector, pause(0.3), speech(), pause(2))
    detector.reset()
    assert detector.said_samples == 0
    assert SpeechStarted in [type(sign) for sign in signs_of(detector, pause(0.3), speech())]


@pytest.mark.parametrize("noise", [keyboard, coughs, music, pause])
def test_noise_is_no_speech(noise):
    signs = signs_of(TurnDetector(30), noise(30.0))
    assert SpeechStarted not in [type(sign) for sign in signs]


def test_speech_is_heard_through_a_keyboard():
    said = speech()
    signs = signs_of(TurnDetector(30), said + 0.5 * keyboard(len(said) / RATE)[: len(said)])
    assert SpeechStarted in [type(sign) for sign in signs]
