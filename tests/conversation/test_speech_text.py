"""What is said aloud, from what is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.conversation.speech_text import speakable


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("Hello there.", "Hello there."),
        ("**bold** and `my_var` = 2 * 3", "bold and my_var equals 2 times 3"),
        ("Use snake_case and __init__.", "Use snake_case and init."),
        ("It is *very* good, _really_.", "It is very good, really."),
        ("***Both*** at once.", "Both at once."),
        ("~~old~~ new", "old new"),
        ("# Heading", "Heading"),
        ("- item", "item"),
        ("* item", "item"),
        ("1. First step", "1, First step"),
        ("> quoted words", "quoted words"),
        ("- [x] done", "done"),
        ("See [the docs](https://example.org/a_b?c=1).", "See the docs."),
        ("![a red cat](cat.png)", "a red cat"),
        ("Go to https://www.example.org/path/x now", "Go to example dot org now"),
        ("Hello 🙂 there", "Hello there"),
        ("<b>Bold</b> words", "Bold words"),
        ("| Name | Age |", "Name, Age"),
        ("| Name | Age |\n|------|----:|\n| Ann | 5 |", "Name, Age. Ann, 5"),
        ("```python\nprint(1)\n```", "print(1)"),
        ("Salt & pepper, 50%", "Salt and pepper, 50 percent"),
        ("It costs $3.50.", "It costs 3.50 dollars."),
        ("It is 20°C.", "It is 20 degrees Celsius."),
        ("a < b", "a less than b"),
        ("First\nSecond", "First. Second"),
        ("It's 3.5, e.g. this.", "It's 3.5, e.g. this."),
        ("你好。", "你好。"),
    ],
)
def test_writing_becomes_prose(written, spoken):
    assert speakable(written) == spoken


@pytest.mark.parametrize(
    "written",
    ["", "  ", "!", "..", "...", "🙂🙂", "---", "***", "|---|---|", "```\n```", "?!", "—"],
)
def test_nothing_to_say_gives_nothing(written):
    assert speakable(written) == ""


@given(st.text(max_size=200))
def test_any_text_gives_one_tidy_line(written):
    spoken = speakable(written)
    assert spoken == " ".join(spoken.split())
    assert not spoken or any(character.isalnum() for character in spoken)


@given(st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), min_size=1, max_size=20))
def test_plain_words_all_survive(words):
    assert speakable(" ".join(words)) == " ".join(words)
