"""A scene that stays as it is is looked at once; whatever is new in it is looked at."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from backend.contract.media import VideoFrames
from backend.engines.embedded.sights import KEPT_S, Sights
from tests.engines.embedded.doubles import FakeEyes

GO_ON = threading.Event()


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def eyes():
    return FakeEyes("A desk.")


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def sights(eyes, clock):
    return Sights(eyes, clock)


def scene(seed=1):
    """A picture of 360 by 640 with coarse detail."""
    rough = np.random.default_rng(seed).integers(40, 120, (9, 16, 3), dtype=np.uint8)
    return rough.repeat(40, 0).repeat(40, 1)


def noisy(image, seed):
    """The same as another exposure of a camera gives it."""
    noise = np.random.default_rng(seed).normal(0, 6, image.shape)
    return np.clip(image + noise, 0, 255).astype(np.uint8)


def with_card(image):
    """The same with a white card of a tenth of its width held up."""
    shown = image.copy()
    shown[150:210, 300:364] = 245
    return shown


def of(*images):
    return VideoFrames(np.stack(images), np.arange(len(images), dtype=float), len(images) - 1.0)


def look(sights, *images, who="anna"):
    return sights.look(who, of(*images), GO_ON)


def test_an_unchanged_scene_is_looked_at_once(sights, eyes):
    for seed in range(5):
        assert look(sights, noisy(scene(), seed), noisy(scene(), seed + 9)) == "A desk."
    assert eyes.looks == 1


def test_a_small_card_that_is_held_up_is_looked_at(sights, eyes):
    look(sights, scene())
    eyes.notes = "A card."
    assert look(sights, scene(), with_card(scene())) == "A card."
    assert look(sights, with_card(scene())) == "A card."
    assert eyes.looks == 2


def test_a_video_that_only_ends_like_the_last_one_is_looked_at(sights, eyes):
    black = np.zeros((360, 640, 3), np.uint8)
    look(sights, scene(1), black)
    look(sights, scene(2), black)
    assert eyes.looks == 2


def test_what_one_person_shows_is_never_told_to_another(sights, eyes):
    look(sights, scene(), who="anna")
    eyes.notes = "Berta's desk."
    assert look(sights, scene(), who="berta") == "Berta's desk."
    assert look(sights, scene(), who="anna") == "A desk."


def test_notes_grow_old(sights, eyes, clock):
    look(sights, scene())
    clock.now += KEPT_S + 1
    look(sights, scene())
    assert eyes.looks == 2


def test_a_look_that_was_stopped_in_the_middle_is_not_remembered(sights, eyes):
    eyes.notes = ""
    look(sights, scene())
    eyes.notes = "A desk."
    assert look(sights, scene()) == "A desk."


def test_a_look_that_nobody_waits_for_any_more_is_remembered(sights, eyes):
    stopped = threading.Event()
    stopped.set()
    sights.look("anna", of(scene()), stopped)
    look(sights, scene())
    assert eyes.looks == 1


def test_a_look_that_failed_is_not_remembered(sights, eyes):
    look(sights, scene())
    eyes.error = ValueError("blind")
    with pytest.raises(ValueError, match="blind"):
        look(sights, scene(2))
    eyes.error = None
    look(sights, scene(2))
    assert eyes.looks == 3


def test_it_remembers_no_more_than_64_sessions(sights, eyes):
    for number in range(65):
        look(sights, scene(), who=str(number))
    look(sights, scene(), who="64")
    assert eyes.looks == 65
    look(sights, scene(), who="0")
    assert eyes.looks == 66
