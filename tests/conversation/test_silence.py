"""The gate that keeps silence markers from being shown or spoken."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.conversation.silence import SilenceGate

MARKERS = [
    "<|silent|>", " <|silent|>\n", "<|SILENT|>.", "[Silence]", "[silent]", "(silence)", "<silent>",
    "< |silent|>", "<|silence|>",
]  # fmt: skip


def passed(pieces):
    gate = SilenceGate()
    text = "".join(gate.feed(piece) for piece in pieces) + gate.finish()
    return text, gate.silent


@pytest.mark.parametrize("reply", [*MARKERS, "", "  \n", "<|silent|><|silent|>", ". <|silent|>"])
def test_a_reply_that_says_nothing_is_silent(reply):
    assert passed([reply]) == ("", True)
    assert passed(reply) == ("", True)


@pytest.mark.parametrize("marker", MARKERS)
def test_a_marker_within_a_longer_reply_is_taken_out(marker):
    text, silent = passed(f"I see. {marker} Bye.")
    assert not silent
    assert "silen" not in text.lower()
    assert text.startswith("I see.")
    assert text.endswith("Bye.")


@pytest.mark.parametrize(
    "reply",
    ["Silence is golden.", "Be silent!", "a < b and (c) [d]", "use <div> and List<int>", "...",
     "(silently) he left", "<|silen", "x <"],
)  # fmt: skip
def test_other_words_and_brackets_pass_unchanged(reply):
    assert passed(reply) == (reply, False)


def test_ordinary_words_are_let_through_at_once():
    gate = SilenceGate()
    assert gate.feed("Hello") == "Hello"
    assert gate.feed(" there <") == " there "
    assert gate.feed("|") == ""
    assert gate.feed("x") + gate.finish() == "<|x"


reply_parts = st.lists(
    st.sampled_from([*MARKERS, "<|", "|>", "silent", "[", "(", "<", ">", ".", " ", "\n", "Hello"]),
    max_size=12,
)


@given(reply_parts, st.data())
def test_the_cuts_between_pieces_make_no_difference(parts, data):
    reply = "".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(reply)), max_size=8)))
    edges = [0, *cuts, len(reply)]
    pieces = [reply[start:end] for start, end in pairwise(edges)]
    assert passed(pieces) == passed([reply])
