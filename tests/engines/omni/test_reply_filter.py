"""What the model writes for itself does not reach the person."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.engines.omni.reply_filter import ReplyFilter


def filtered(*pieces: str) -> str:
    reply = ReplyFilter()
    return "".join(reply.feed(piece) for piece in pieces) + reply.finish()


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Hello.", "Hello."),
        ("<think>hm</think>Hello.", "Hello."),
        ("<think>never closed", ""),
        ("Hello.<|im_end|>", "Hello."),
        ("<THINK>a</THINK>b<think>c</think>d", "bd"),
        ("a < b, <b>bold</b> and <|silent|>", "a < b, <b>bold</b> and <|silent|>"),
        ("</think>Hello", "Hello"),
        ("ends with <thi", "ends with <thi"),
    ],
)
def test_thoughts_and_control_tokens_go_and_all_else_stays(written, shown):
    assert filtered(written) == shown
    assert filtered(*written) == shown


@given(st.lists(st.sampled_from(["<think>", "</think>", "<|im_end|>", "<", "a", "|", ">", " "])))
def test_the_cuts_make_no_difference(parts):
    assert filtered(*parts) == filtered(*"".join(parts))
