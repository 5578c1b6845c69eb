"""Two texts are compared by their words; how they are written does not matter."""

from __future__ import annotations

import pytest

from backend.voices.quality import word_error_rate
from backend.voices.text_checks import check_text
from backend.voices.words import compare, words_of

TEXT = "The old harbour is quiet in the early morning before the first boats come in."


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Hello, World!", "hello world"),
        ("I have 7 dogs.", "i have seven dogs"),
        ("It's 42.", "It\u2019s forty-two"),
        ("\uff28\uff45\uff59", "hey"),
        ("STRASSE", "stra\u00dfe"),
    ],
)
def test_case_punctuation_and_numbers_do_not_count(one, other):
    assert words_of(one) == words_of(other)


def test_each_chinese_character_is_a_word():
    assert words_of("\u4f60\u597d\uff0cworld") == ["\u4f60", "\u597d", "world"]


@pytest.mark.parametrize("heard", ["every one knows Jon", "everyone knows John"])
def test_words_that_sound_the_same_agree(heard):
    assert compare(words_of("Everyone knows John"), words_of(heard)).agreement == 1.0


def test_another_number_is_another_word():
    assert compare(["seven", "boats"], ["eleven", "boats"]).not_heard == ("seven",)


def test_the_right_text_agrees():
    finding = check_text(TEXT.upper(), TEXT.replace("harbour", "harbor"), 5.0)
    assert (finding.code, finding.severity) == ("text_agrees", "fine")


def test_one_word_misheard_is_a_note_that_names_both():
    finding = check_text(TEXT, TEXT.replace("first", "worst"), 5.0)
    assert (finding.code, finding.severity) == ("text_nearly", "note")
    assert "Not heard: \u201cfirst\u201d." in finding.text
    assert "Heard but not written: \u201cworst\u201d." in finding.text


def test_half_the_text_is_a_warning_that_names_the_rest():
    finding = check_text("The old harbour is quiet in the early", TEXT, 5.0)
    assert (finding.code, finding.severity) == ("text_differs", "warn")
    assert "morning before the first boats come in" in finding.text
    assert finding.fixes == ("use_heard_text", "x_vector_only")


def test_the_text_of_another_clip_is_said_to_be_one():
    finding = check_text("Seven people walked slowly across a wide field.", TEXT, 5.0)
    assert finding.code == "text_differs"
    assert "another clip" in finding.text


@pytest.mark.parametrize("text", ["", "   ", " ... "])
def test_no_text_is_refused_with_both_ways_out(text):
    finding = check_text(text, TEXT, 5.0)
    assert (finding.code, finding.severity) == ("text_missing", "stop")
    assert finding.fixes == ("use_heard_text", "x_vector_only")


def test_no_text_and_nothing_heard_leaves_one_way_out():
    assert check_text("", "", 5.0).fixes == ("x_vector_only",)


def test_a_page_of_text_for_three_seconds_is_refused():
    finding = check_text("word " * 300, "a few words", 3.0)
    assert (finding.code, finding.severity) == ("text_impossible", "stop")
    assert "300 words" in finding.text


def test_where_nothing_was_heard_the_text_is_not_blamed():
    finding = check_text(TEXT, "", 5.0)
    assert (finding.code, finding.severity) == ("text_unchecked", "warn")


def test_a_long_difference_is_cut():
    finding = check_text(TEXT, "one two", 20.0)
    assert "and 3 more" in finding.text


@pytest.mark.parametrize(
    ("asked", "heard", "rate"),
    [
        ("a b c d", "A, b c D!", 0.0),
        ("a b c d", "a x c d", 0.25),
        ("a b c d", "a c d", 0.25),
        ("a b c d", "a b b c d", 0.25),
        ("a b", "", 1.0),
        ("a", "a b c d", 3.0),
        ("", "a b", 2.0),
        ("", "", 0.0),
    ],
)
def test_word_errors_are_counted_per_word_asked(asked, heard, rate):
    assert word_error_rate(asked, heard) == rate
