"""The guards around the recogniser that need no model."""

from __future__ import annotations

import pytest

from backend.engines.embedded.recognizer import repeats_itself


@pytest.mark.parametrize("text", ["No no no no", "a b a b a b a b c", "stop. stop. stop. stop."])
def test_words_in_a_loop_are_told(text):
    assert repeats_itself(text)


@pytest.mark.parametrize("text", ["", "no", "No, no, no.", "What is the capital of France?"])
def test_words_as_people_say_them_are_no_loop(text):
    assert not repeats_itself(text)
