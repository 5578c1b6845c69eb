"""How a reply is cut into pieces that can be spoken one by one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.conversation.sentences import MAX_PIECE_CHARS, SentenceCutter, cut_all


def stripped(text):
    return [piece.strip() for piece in cut_all(text)]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Dr. Smith is here. Good.", ["Dr. Smith is here.", "Good."]),
        ("It is 3.5 metres. Good.", ["It is 3.5 metres.", "Good."]),
        ("Fruit, e.g. apples. Good.", ["Fruit, e.g. apples.", "Good."]),
        ('He said "Stop!" Then he left.', ['He said "Stop!"', "Then he left."]),
        ("你好。再见！好吗？", ["你好。", "再见！", "好吗？"]),
        ("Things:\n1. One\n2. Two\n- Three", ["Things:", "1. One", "2. Two", "- Three"]),
        ("See this:\n```\na. b\nc! d\n```\nDone.", ["See this:", "```\na. b\nc! d\n```", "Done."]),
        ("Wait... what? Yes.", ["Wait...", "what?", "Yes."]),
        ("That is me and I. Good.", ["That is me and I.", "Good."]),
    ],
)
def test_sentences_items_and_code_blocks_are_pieces(text, pieces):
    assert stripped(text) == pieces


def test_the_opening_clause_is_given_before_its_sentence_ends():
    cutter = SentenceCutter()
    assert cutter.feed("The capital of France is Paris, a") == ["The capital of France is Paris, "]
    assert cutter.feed(" city on the Seine, known to all") == []


def test_a_short_opening_clause_waits_for_its_sentence():
    assert SentenceCutter().feed("Well, I would say so") == []


def test_in_a_hurry_the_opening_ends_where_a_phrase_does_and_only_the_opening():
    cutter = SentenceCutter(hurried=True)
    assert cutter.feed("The largest ocean on ") == ["The largest ocean "]
    assert cutter.feed("Earth is the Pacific Ocean with its many islands and ") == []
    (rest,) = cutter.feed("reefs. It")
    assert rest == "on Earth is the Pacific Ocean with its many islands and reefs. "


def test_in_a_hurry_the_next_phrase_is_known_by_its_first_word():
    cutter = SentenceCutter(hurried=True)
    assert cutter.feed("The capital of Italy") == []
    assert cutter.feed(" is") == ["The capital of Italy "]


def test_in_a_hurry_a_short_opening_waits_too():
    assert SentenceCutter(hurried=True).feed("A spider is ") == []


@pytest.mark.parametrize("word", ["word ", "word, ", "w", "字"])
def test_text_without_stops_is_cut_by_length(word):
    pieces = cut_all(word * 400)
    assert "".join(pieces) == word * 400
    assert max(map(len, pieces)) <= MAX_PIECE_CHARS


def test_five_thousand_characters_of_numbered_sentences_are_all_there():
    text = " ".join(f"This is sentence number {number}." for number in range(180))
    assert len(text) > 5000
    assert stripped(text) == [f"This is sentence number {number}." for number in range(180)]


alphabet = st.text(st.sampled_from("ab .,!?\n`-。1"), max_size=300)


@given(alphabet, st.integers(1, 40))
def test_nothing_is_lost_however_the_text_arrives(text, size):
    cutter = SentenceCutter()
    pieces = []
    for start in range(0, len(text), size):
        pieces += cutter.feed(text[start : start + size])
    assert "".join(pieces + cutter.finish()) == text
