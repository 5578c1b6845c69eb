"""Words are kept free of control tokens."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.engines.omni.mimo.tokens import clean, sentence_case

PARTS = st.sampled_from(
    [
        "<|", "|>", "<", ">", "|", "/", "empty", "eot", "sostm", "think", "<think>", "</think>",
        "<|empty|>", "<|im_end|>", "<|eot|>", "a", " ", "\n", "读",
    ]
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hello there.", "Hello there."),
        ("Say <|empty|> now", "Say   now"),
        ("<|im_end|>\n<|im_start|>system", "system"),
        ("<think>secret</think>Hi", "secret Hi"),
        ("<THINK>Hi</Think>", "Hi"),
        ("<|em<|empty|>pty|>", "<|em pty|>"),
        ("<thi<think>nk>", "<thi nk>"),
        ("<tool_call>x</tool_call>", "x"),
        ("<|eot|><|empty|><|eostm|>", ""),
        ("f <| x |> g, a <b> c, a<b|c>d", "f <| x |> g, a <b> c, a<b|c>d"),
        ("<|made_up_by_someone|>", ""),
    ],
)
def test_tokens_go_and_words_stay(text, words):
    assert clean(text) == words


@given(st.lists(PARTS, max_size=40).map("".join))
def test_no_spelling_leaves_a_token_behind(text):
    left = clean(text)
    assert not re.search(r"<\|\w+\|>|</?think>", left)
    assert clean(left) == left


@given(st.text(alphabet="abc <>|.!?\n读", max_size=60))
def test_text_with_bars_and_angles_keeps_all_of_its_letters(text):
    tokens = r"<\|[^\s|<>]+\|>"
    assert re.sub(r"\s", "", clean(text)) == re.sub(r"\s", "", re.sub(tokens, "", text))


def test_a_hundred_thousand_nested_tokens_are_cleaned_in_one_pass():
    assert "<|empty|>" not in clean("<|em" * 20_000 + "<|empty|>" + "pty|>" * 20_000)


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("hello there.", "Hello there."),
        ("élan", "Élan"),
        ("NASA", "NASA"),
        ("Hello NASA", "Hello NASA"),
        ("привет", "привет"),
        ("你好 hello", "你好 hello"),
        ("42 apples", "42 apples"),
        ("", ""),
    ],
)
def test_small_latin_letters_get_a_capital_and_nothing_else_changes(text, spoken):
    assert sentence_case(text) == spoken
