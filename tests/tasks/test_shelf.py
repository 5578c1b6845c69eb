"""Recordings on the shelf: who gets them back, for how long, and how many there may be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from backend.contract.errors import TurnRefused
from backend.contract.media import AudioClip
from backend.tasks.shelf import ClipShelf, ShelfLimits
from tests.scripted_engine import tone

RATE = 24_000
SECOND = AudioClip(tone(1.0), RATE)
BYTES = 48_044  # of a second as a WAV file


@pytest.fixture
def make():
    """Make a shelf whose clock is a list of one number."""
    shelves = []

    def shelf(clock=None, **limits) -> ClipShelf:
        shelves.append(ClipShelf(ShelfLimits(**limits), lambda: (clock or [0.0])[0]))
        return shelves[-1]

    yield shelf
    for one in shelves:
        one.close()


def there(shelf, owner, *clips):
    """Which of the clips are still there, by number. Asking uses them, from the first on."""
    return [number for number, clip in enumerate(clips) if is_there(shelf, owner, clip)]


def is_there(shelf, owner, clip):
    try:
        return shelf.clip(owner, clip.id) is clip
    except TurnRefused:
        return False


def test_a_recording_comes_back_as_it_was(make):
    shelf = make()
    kept = shelf.keep("ann", SECOND)
    assert (kept.duration_s, kept.made_by, kept.size) == (1.0, "", BYTES)
    back = shelf.sound("ann", kept.id)
    assert back.sample_rate == RATE
    assert np.allclose(back.samples, SECOND.samples, atol=1e-4)


def test_each_has_only_their_own(make):
    shelf = make()
    kept = shelf.keep("ann", SECOND)
    with pytest.raises(TurnRefused) as refused:
        shelf.clip("bob", kept.id)
    assert refused.value.code == "clip_unknown"
    assert there(shelf, "ann", kept) == [0]


def test_ids_tell_nothing_of_each_other(make):
    shelf = make()
    ids = {shelf.keep("ann", SECOND).id for _ in range(20)}
    assert len(ids) == 20
    assert all(len(one) == 32 for one in ids)


def test_what_is_not_used_for_an_hour_is_forgotten(make):
    clock = [0.0]
    shelf = make(clock)
    used, unused = shelf.keep("ann", SECOND), shelf.keep("ann", SECOND)
    clock[0] = 3599.0
    assert there(shelf, "ann", used) == [0]
    clock[0] = 3601.0
    shelf.sweep()
    assert (used.path.exists(), unused.path.exists()) == (True, False)
    assert there(shelf, "ann", used, unused) == [0]


def test_what_was_unused_longest_makes_room_for_a_new_recording(make):
    shelf = make(own_clips=2)
    first, second = shelf.keep("ann", SECOND), shelf.keep("ann", SECOND)
    assert there(shelf, "ann", first) == [0]
    third = shelf.keep("ann", SECOND)
    assert there(shelf, "ann", first, second, third) == [0, 2]
    assert not second.path.exists()


def test_bytes_are_bounded_too(make):
    shelf = make(own_bytes=2 * BYTES)
    kept = [shelf.keep("ann", SECOND) for _ in range(3)]
    assert there(shelf, "ann", *kept) == [1, 2]
    with pytest.raises(TurnRefused, match="no room"):
        shelf.keep("ann", AudioClip(tone(3.0), RATE))


def test_nobody_makes_room_for_others(make):
    shelf = make(clips=2)
    kept = [shelf.keep("ann", SECOND), shelf.keep("ann", SECOND)]
    with pytest.raises(TurnRefused) as refused:
        shelf.keep("bob", SECOND)
    assert refused.value.code == "shelf_full"
    assert there(shelf, "ann", *kept) == [0, 1]
    assert len(list(kept[0].path.parent.iterdir())) == 2  # what was refused left no file


def test_those_who_share_a_shelf_push_out_only_what_was_not_used_for_some_time(make):
    clock = [0.0]
    shelf = make(clock, own_clips=2, common_owner="api", common_s=600.0)
    first, second = shelf.keep("api", SECOND), shelf.keep("api", SECOND)
    clock[0] = 599.0
    assert there(shelf, "api", second) == [0]
    with pytest.raises(TurnRefused) as refused:
        shelf.keep("api", SECOND)
    assert refused.value.code == "shelf_full"
    clock[0] = 601.0
    third = shelf.keep("api", SECOND)
    with pytest.raises(TurnRefused):
        shelf.keep("api", SECOND)
    assert there(shelf, "api", first, second, third) == [1, 2]


def test_what_is_pushed_out_while_it_is_asked_for_is_told_as_gone(make):
    shelf = make()
    kept = shelf.keep("ann", SECOND)
    kept.path.unlink()
    with pytest.raises(TurnRefused) as refused:
        shelf.sound("ann", kept.id)
    assert refused.value.code == "clip_unknown"


def test_bytes_of_everybody_are_bounded(make):
    shelf = make(all_bytes=2 * BYTES)
    for owner in ("ann", "bob"):
        shelf.keep(owner, SECOND)
    with pytest.raises(TurnRefused, match="no room"):
        shelf.keep("eve", SECOND)


def test_a_full_disk_is_told(make, monkeypatch):
    shelf = make()
    monkeypatch.setattr("backend.tasks.shelf._FREE_BYTES", 10**18)
    with pytest.raises(TurnRefused, match="no room"):
        shelf.keep("ann", SECOND)


def test_a_reply_is_kept_while_it_is_made(make):
    shelf = make()
    recording = shelf.record("ann", "scripted", RATE)
    for piece in np.array_split(SECOND.samples, 3):
        recording.add(piece)
    assert there(shelf, "ann", recording.clip) == []
    assert recording.finish().made_by == "scripted"
    assert np.allclose(shelf.sound("ann", recording.clip.id).samples, SECOND.samples, atol=1e-4)


def test_a_reply_that_is_given_up_leaves_no_file(make):
    recording = make().record("ann", "scripted", RATE)
    recording.add(SECOND.samples)
    recording.discard()
    assert not recording.clip.path.exists()


def test_nothing_is_left_when_the_app_ends():
    shelf = ClipShelf()
    folder: Path = shelf.keep("ann", SECOND).path.parent
    shelf.close()
    assert not folder.exists()
