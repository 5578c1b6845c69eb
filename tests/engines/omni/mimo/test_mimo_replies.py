"""Reasoning, answer and sound are told apart while the reply comes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.engines.omni.mimo.replies import ReplyDelta, ReplySplitter
from backend.engines.omni.mimo.specs import Ending

EMPTY, SOSTM, EOSTM, EOT, IM_END = 151667, 151670, 151671, 151672, 151645
SPEAK, THINK, NOTHINK = Ending.SPEAK, Ending.THINK, Ending.NOTHINK


def split(ending: Ending, *pieces: str) -> ReplySplitter:
    reply = ReplySplitter(ending)
    deltas = [*[reply.feed(piece) for piece in pieces], reply.finish()]
    assert "".join(delta.reasoning for delta in deltas) == reply.reasoning
    assert "".join(delta.answer for delta in deltas) == reply.answer
    return reply


@pytest.mark.parametrize(
    ("ending", "written", "reasoning", "answer"),
    [
        (THINK, "Two cats.\n</think>\nTwo.<|im_end|>", "Two cats.\n", "Two."),
        (THINK, "Still at it", "Still at it", ""),
        (THINK, "<think>Hm</think>Yes", "Hm", "Yes"),
        (THINK, "Hm ... well ..... so</think>Yes", "Hm ... well ..... so", "Yes"),
        (THINK, "Calm</think>\n<|sostm|>Hi <|empty|>you<|eot|><|empty|><|eostm|>", "Calm",
         "Hi you"),
        (THINK, "Calm<|sostm|>Hi", "Calm", "Hi"),
        (THINK, "Is it <english>?</think><chinese>好", "Is it <english>?", "好"),
        (NOTHINK, "The answer.<|im_end|><|endoftext|>", "", "The answer."),
        (NOTHINK, "One<think>no</think>, two</think>.", "no", "One, two."),
        (NOTHINK, "a < b, <b>bold</b>, x <| y", "", "a < b, <b>bold</b>, x <| y"),
        (NOTHINK, "ends with <thi", "", "ends with <thi"),
        (SPEAK, "Hello<|eot|> and junk", "", "Hello"),
        (SPEAK, "Hello<|eot|><think>junk", "", "Hello"),
        (SPEAK, "Hello..........<|eot|>", "", "Hello"),
        (SPEAK, "Well... yes....", "", "Well... yes...."),
        (SPEAK, "<english>Hello <english>", "", "Hello <english>"),
        (SPEAK, "<|sosp|>a<|eosp|>b<|made_up|>c", "", "abc"),
        (SPEAK, "", "", ""),
    ],
)  # fmt: skip
def test_a_reply_is_sorted_and_the_cuts_make_no_difference(ending, written, reasoning, answer):
    for reply in (split(ending, written), split(ending, *written)):
        assert (reply.reasoning, reply.answer) == (reasoning, answer)


MARKS = [
    "<think>", "</think>", "<|eot|>", "<|empty|>", "<|sostm|>", "<chinese>", "<", "|", ">", ".",
    ".....", "a", " ", "\n", "读",
]  # fmt: skip


@given(st.sampled_from(Ending), st.lists(st.sampled_from(MARKS), max_size=30), st.data())
def test_any_cuts_give_the_same(ending, parts, data):
    text = "".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=10)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    cut, whole = split(ending, *pieces), split(ending, text)
    assert (cut.reasoning, cut.answer) == (whole.reasoning, whole.answer)
    assert (cut.thinking, cut.language) == (whole.thinking, whole.language)
    assert "<|eot|>" not in whole.answer


def test_reasoning_comes_as_it_is_written():
    reply = ReplySplitter(THINK)
    assert reply.feed("\nTwo ").reasoning == "Two "
    assert reply.feed("cats.") == ReplyDelta("cats")
    assert reply.feed("</thi") == ReplyDelta(".")
    assert reply.thinking
    assert reply.feed("nk>\nTwo") == ReplyDelta("", "Two")
    assert not reply.thinking


def test_reasoning_that_never_ended_is_told_and_leaves_no_answer():
    reply = split(THINK, "It may be", " that")
    assert reply.thinking
    assert reply.answer == ""


@pytest.mark.parametrize(
    ("written", "language", "answer"),
    [
        ("<english>Hello.", "en", "Hello."),
        ("<Chinese> <chinese>你好", "zh", "你好"),
        ("Hello.", "", "Hello."),
        ("Hello <english> there", "", "Hello <english> there"),
    ],
)
def test_the_language_of_a_transcript_is_kept_and_its_mark_is_not(written, language, answer):
    reply = split(SPEAK, *written)
    assert (reply.language, reply.answer) == (language, answer)


def test_groups_are_counted_by_their_tokens():
    reply = ReplySplitter(SPEAK)
    assert reply.feed("Hi you all", [1, 2, 3]) == ReplyDelta(answer="Hi you all")
    assert reply.feed("", [EMPTY] * 5) == ReplyDelta(groups=5, at_group=5)
    assert reply.feed(" now", [EMPTY, EMPTY, 4, EMPTY]) == ReplyDelta(
        answer=" now", groups=3, at_group=7
    )
    assert reply.groups == 8


def test_nothing_after_the_words_counts_as_reasoning_or_language():
    reply = split(SPEAK, "<|eot|><think><english>")
    assert (reply.thinking, reply.language) == (False, "")


@pytest.mark.parametrize("shown", [True, False])
def test_the_end_of_the_words_is_known_whether_or_not_special_tokens_are_shown(shown):
    reply = ReplySplitter(SPEAK)
    reply.feed("Hello.", [1])
    reply.feed("<|eot|>" if shown else "", [EOT])
    reply.feed("<|empty|>" if shown else "", [EMPTY])
    reply.feed("junk", [2])
    reply.finish()
    assert (reply.answer, reply.groups) == ("Hello.", 1)


def test_speech_ends_the_reasoning_also_where_special_tokens_are_hidden():
    reply = ReplySplitter(THINK)
    reply.feed("Calm", [1])
    reply.feed("", [SOSTM])
    reply.feed("Hi", [2])
    reply.finish()
    assert (reply.reasoning, reply.answer, reply.thinking) == ("Calm", "Hi", False)
