"""How long a pause may be, by the words before it."""

from __future__ import annotations

import pytest

from backend.realtime.patience import (
    ASKED_S,
    FINISHED_S,
    OPEN_S,
    UNFINISHED_S,
    UNKNOWN_S,
    patience_s,
)


@pytest.mark.parametrize(
    "words",
    [
        "What is the capital of France?",
        "Yes.",
        "Stop!",
        "I have two cats.",
        "Who is that for?",
        "好的。",
    ],
)
def test_a_whole_sentence_is_answered_quickly(words):
    assert patience_s(words) == FINISHED_S


@pytest.mark.parametrize(
    "words",
    [
        "I would like a coffee and",
        "I would like a coffee and.",  # recognisers put a full stop after anything
        "Tell me about the",
        "Well,",
        "I went there because...",
        "My number is five five one",
        "It is 20 7",
        "So I'm",
    ],
)
def test_a_sentence_that_must_go_on_is_waited_for(words):
    assert patience_s(words) == UNFINISHED_S


def test_words_without_an_end_get_a_moment():
    assert patience_s("tell me a story about dragons") == OPEN_S


def test_a_question_without_its_mark_is_probably_whole():
    assert patience_s("who wrote romeo and juliet") == ASKED_S
    assert patience_s("how are you") == OPEN_S
    assert patience_s("what do you think about the") == UNFINISHED_S


@pytest.mark.parametrize("words", ["", " ", "...", "?!"])
def test_without_words_the_pause_has_to_be_longer(words):
    assert patience_s(words) == UNKNOWN_S


def test_the_order_is_that_of_certainty():
    assert FINISHED_S < ASKED_S < OPEN_S < UNKNOWN_S < UNFINISHED_S
