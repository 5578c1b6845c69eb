"""The end of a reply is heard once."""

from __future__ import annotations

import numpy as np
import pytest

from backend.engines.omni.mimo.tail import TailGuard

GROUP = 3840


def chunks(*groups: int, repeat: bool = False) -> list[np.ndarray]:
    """Noise in chunks of so many groups; where ``repeat``, the last one twice."""
    draw = np.random.default_rng(sum(groups))
    made = [draw.normal(0, 0.1, n * GROUP).astype(np.float32) for n in groups]
    return [*made, made[-1]] if repeat else made


def heard(sent: list[np.ndarray], groups: int, known_after: int) -> np.ndarray:
    """What is given out when the length is learnt after so many chunks."""
    guard, given = TailGuard(), []
    for number, chunk in enumerate(sent):
        if number == known_after:
            given.append(guard.finish(groups))
        given.append(guard.feed(chunk))
    if known_after >= len(sent):
        given.append(guard.finish(groups))
    assert guard.given == sum(len(piece) for piece in given)
    return np.concatenate(given)


@pytest.mark.parametrize("known_after", [0, 1, 2, 3])
@pytest.mark.parametrize("sizes", [(5, 5), (6, 6, 6), (30,)])
def test_a_last_chunk_that_is_sent_twice_is_heard_once(sizes, known_after):
    whole = np.concatenate(chunks(*sizes))
    assert np.array_equal(heard(chunks(*sizes, repeat=True), sum(sizes), known_after), whole)


@pytest.mark.parametrize("known_after", [0, 1, 2, 3])
@pytest.mark.parametrize("sizes", [(5, 5), (5, 3), (2,)])
def test_a_reply_that_is_sent_once_is_heard_whole(sizes, known_after):
    whole = np.concatenate(chunks(*sizes))
    assert np.array_equal(heard(chunks(*sizes), sum(sizes), known_after), whole)


def test_a_repeat_that_came_in_one_piece_with_the_chunk_is_cut_off():
    sent = [np.concatenate(chunks(5, 5, repeat=True))]
    assert len(heard(sent, 10, 0)) == 10 * GROUP


def test_chunks_that_are_the_same_because_they_are_silent_are_all_heard():
    silent = [np.zeros(5 * GROUP, np.float32)] * 3
    assert len(heard(silent, 15, 3)) == 15 * GROUP


@pytest.mark.parametrize("missing", [1, 2])
def test_groups_that_were_read_back_as_words_are_not_cut_off(missing):
    assert len(heard(chunks(6, 6), 12 - missing, 1)) == 12 * GROUP
    assert len(heard(chunks(6, 6, repeat=True), 12 - missing, 1)) == 12 * GROUP


def test_chunks_are_given_at_once_while_they_differ():
    guard = TailGuard()
    for chunk in chunks(5, 6, 5):
        assert np.array_equal(guard.feed(chunk), chunk)


def test_empty_chunks_are_nothing():
    guard, empty = TailGuard(), np.zeros(0, np.float32)
    for chunk in [empty, *chunks(5, repeat=True), empty, empty]:
        guard.feed(chunk)
    assert len(guard.finish(5)) == 0
    assert guard.given == 5 * GROUP
