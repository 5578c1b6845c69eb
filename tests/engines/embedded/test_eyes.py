"""What is said of frames without reading any text."""

from __future__ import annotations

import numpy as np
import pytest

from backend.engines.embedded.colours import main_colours
from backend.engines.embedded.eyes import describe_light, telling_frames
from backend.engines.embedded.motion import describe_motion


def plain_frame(colour):
    return np.full((90, 160, 3), colour, np.uint8)


def with_square(left, top):
    frame = plain_frame((120, 120, 120))
    frame[top : top + 20, left : left + 20] = 255
    return frame


def textured(shift):
    noise = np.random.default_rng(1).integers(0, 255, (9, 32, 3), dtype=np.uint8)
    return np.roll(noise.repeat(10, 0).repeat(10, 1), shift, axis=1)


@pytest.mark.parametrize(
    ("colour", "name"),
    [
        ((220, 20, 20), "red"), ((240, 140, 20), "orange"), ((240, 230, 30), "yellow"),
        ((20, 160, 40), "green"), ((30, 60, 220), "blue"), ((130, 40, 180), "purple"),
        ((5, 5, 5), "black"), ((250, 250, 250), "white"), ((128, 128, 128), "grey"),
    ],
)  # fmt: skip
def test_colours_have_their_common_names(colour, name):
    assert main_colours(plain_frame(colour)) == [name]


def test_the_larger_colour_comes_first():
    frame = plain_frame((220, 20, 20))
    frame[:, 100:] = (30, 60, 220)
    assert main_colours(frame) == ["red", "blue"]


@pytest.mark.parametrize(
    ("colour", "words"), [((10,) * 3, "dark"), ((120,) * 3, "medium"), ((240,) * 3, "bright")]
)
def test_light_is_told(colour, words):
    assert words in describe_light(plain_frame(colour))


@pytest.mark.parametrize(
    ("places", "words"),
    [
        ([(40, 30)] * 4, "Nothing moves"),
        ([(5, 30), (50, 30), (90, 30), (130, 30)], "Something moves from left to right"),
        ([(130, 30), (90, 30), (50, 30), (5, 30)], "Something moves from right to left"),
        ([(60, 0), (60, 25), (60, 45), (60, 65)], "Something moves downwards"),
    ],
)
def test_motion_is_told_with_its_direction(places, words):
    assert describe_motion(np.stack([with_square(*place) for place in places])) == words


def test_a_moving_camera_is_told():
    frames = np.stack([textured(shift) for shift in (0, 20, 40, 60)])
    assert describe_motion(frames).startswith("The camera moves")


def test_a_still_video_is_read_once_at_its_sharpest():
    blurred = np.full((90, 160, 3), 120, np.uint8)
    assert telling_frames(np.stack([blurred, with_square(40, 30), blurred])) == [1]


def test_frames_that_differ_are_read_up_to_the_bound():
    frames = np.stack([plain_frame((level,) * 3) for level in range(0, 250, 25)])
    assert len(telling_frames(frames)) == 3
