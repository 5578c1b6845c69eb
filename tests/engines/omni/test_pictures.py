"""Frames as the vision model gets them."""

from __future__ import annotations

import numpy as np
import pytest

from backend.contract.media import VideoFrames
from backend.engines.omni.pictures import to_cells, vision_input, vision_tokens


def clip(count: int, height: int = 90, width: int = 160) -> VideoFrames:
    images = np.full((count, height, width, 3), 200, np.uint8)
    return VideoFrames(images, np.linspace(0.25, 2.25, count), 2.5)


def test_the_frames_keep_their_true_times():
    [(images, metadata)] = vision_input(clip(5))["video"]
    assert images.shape == (5, 96, 160, 3)
    times = [index / metadata["fps"] for index in metadata["frames_indices"]]
    assert times == pytest.approx([0.25, 0.75, 1.25, 1.75, 2.25])
    assert metadata["duration"] == 2.5
    assert metadata["do_sample_frames"] is False


def test_a_single_frame_is_a_picture():
    assert vision_input(clip(1))["image"].size == (160, 96)


def test_sides_become_whole_cells_and_never_vanish():
    assert to_cells(np.zeros((360, 640, 3), np.uint8)).shape == (352, 640, 3)
    assert to_cells(np.zeros((5, 1000, 3), np.uint8)).shape == (32, 992, 3)
    whole = np.zeros((64, 96, 3), np.uint8)
    assert to_cells(whole) is whole


def test_the_tokens_of_a_clip_are_counted_by_pairs_of_frames():
    assert vision_tokens(None) == 0
    assert vision_tokens(clip(8, 352, 640)) == 4 * (11 * 20 + 12)
    assert vision_tokens(clip(7, 352, 640)) == vision_tokens(clip(8, 352, 640))
