"""A call's pictures: what can be read of the newest ones."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from backend.media import snapshots as snapshots_module
from backend.media.snapshots import KEPT, Snapshot, Snapshots, decode_snapshots


def jpeg(width: int = 64, height: int = 48, colour: str = "red") -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(file, "JPEG")
    return file.getvalue()


def test_snapshots_become_frames_with_their_times():
    frames = decode_snapshots([Snapshot(5.0, jpeg()), Snapshot(6.5, jpeg(colour="blue"))])
    assert frames.images.shape == (2, 48, 64, 3)
    assert frames.images.dtype == np.uint8
    assert frames.images[1, 0, 0, 2] > 200
    assert frames.times_s.tolist() == [0.0, 1.5]


@pytest.mark.parametrize("bad", [b"", b"no picture", jpeg()[:200], jpeg(3000, 20)])
def test_what_is_no_snapshot_is_left_out(bad):
    assert decode_snapshots([Snapshot(1.0, bad)]) is None
    assert len(decode_snapshots([Snapshot(1.0, bad), Snapshot(2.0, jpeg())]).images) == 1


def test_those_of_another_shape_than_the_newest_are_left_out():
    frames = decode_snapshots([Snapshot(1.0, jpeg(48, 64)), Snapshot(2.0, jpeg())])
    assert frames.images.shape == (1, 48, 64, 3)


def test_no_picture_is_none():
    assert decode_snapshots([]) is None


def test_only_the_newest_are_kept_and_old_ones_forgotten(monkeypatch):
    now = 100.0
    monkeypatch.setattr(snapshots_module.time, "monotonic", lambda: now)
    seen = Snapshots()
    for number in range(KEPT + 2):
        seen.add(bytes([number]))
    assert [one.jpeg[0] for one in seen.recent()] == list(range(2, KEPT + 2))
    now = 100.0 + snapshots_module.LATEST_S + 1
    assert seen.recent() == ()
