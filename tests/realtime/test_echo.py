"""The assistant's own voice is told from a person's."""

from __future__ import annotations

import numpy as np
import pytest

from backend.realtime.echo import ECHO_SHARE, echo_share
from tests.realtime.sounds import RATE, pause, speech

HALF = RATE // 2


def through_a_room(said: np.ndarray) -> np.ndarray:
    """Quieter, with two reflections and the room's noise."""
    path = np.zeros(1400)
    path[[0, 180, 1300]] = 0.2, 0.08, 0.04
    return (np.convolve(said, path)[: len(said)] + pause(len(said) / RATE)).astype(np.float32)


@pytest.mark.parametrize("start", [4000, 12000, 20000, 28000])
def test_what_was_said_comes_back(start):
    said = speech()
    heard = through_a_room(said)[start : start + HALF]
    assert echo_share(heard, said) > ECHO_SHARE


@pytest.mark.parametrize("start", [4000, 12000, 20000])
def test_other_words_of_the_same_voice_are_a_person(start):
    said = speech()
    assert echo_share(said[start : start + HALF], np.roll(said, 0)[start + HALF :]) < ECHO_SHARE


def test_a_person_over_the_echo_is_heard():
    said = speech()
    person = said[::-1]
    mixed = through_a_room(said)[12000:20000] + person[20000:28000]
    assert echo_share(mixed, said) < ECHO_SHARE


def test_a_reply_that_has_just_begun_comes_back():
    said = speech()
    heard = np.concatenate((pause(0.2), through_a_room(said)[2000:6800]))
    assert echo_share(heard, said[2000:12000]) > ECHO_SHARE


@pytest.mark.parametrize(("heard", "said"), [(0, HALF), (HALF, 0), (10, HALF)])
def test_too_little_sound_is_no_echo(heard, said):
    assert echo_share(speech()[:heard], speech()[:said]) == 0.0


def test_silence_is_no_echo():
    assert echo_share(np.zeros(HALF, np.float32), speech()) == 0.0
