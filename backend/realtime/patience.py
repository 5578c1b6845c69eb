# ruff: noqa: RUF001 - Chinese punctuation ends sentences too
"""How long a pause may be before a person who speaks has finished, told from the words so far.

Quick after a sentence that is whole, patient where more must come: after a word that opens
something ("and", "the", "because"), a comma, or numbers that are being read out. Recognisers put a
full stop after almost anything, so the last word counts for more than it.
"""

from __future__ import annotations

import re

UNKNOWN_S = 1.0
"""Pause that ends an utterance whose words are not known yet."""

FINISHED_S = 0.3
ASKED_S = 0.45
OPEN_S = 0.7
UNFINISHED_S = 1.5

_OPENING = frozenset(
    re.findall(
        r"\S+",
        "and or but so because if when while although that which who whose where than then as"
        " the a an my your his her its our their this these those some any every"
        " to of in on at for with from by about into between without"
        " is are was were am be will would can could should may might must do does did have has had"
        " i'm i'd i'll you're we're it's let's um uh er hmm well like not very really also plus",
    )
)
_NUMBERS = frozenset(
    re.findall(
        r"\S+",
        "zero oh one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
        " fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy"
        " eighty ninety hundred thousand double triple point dash",
    )
)
# Recognisers leave the mark off some questions; from so many words on, one is probably whole.
_ASKING = frozenset(re.findall(r"\S+", "what who whose whom where when why which how"))
_WHOLE_QUESTION = 4
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_TRAILS_OFF = re.compile(r"(,|:|;|-|–|—|…|\.\.\.)\s*$")
_WHOLE = re.compile(r"[.!?。！？]['\"”’)]*\s*$")


def patience_s(words: str) -> float:
    """Seconds of silence after which these words are taken for all that is said.

    Args:
        words: What was heard so far; may be empty.
    """
    said = [word.lower().replace("’", "'") for word in _WORD.findall(words)]
    if not said:
        return UNKNOWN_S
    question = words.rstrip().endswith("?")
    if _TRAILS_OFF.search(words) or (said[-1] in _OPENING and not question):
        return UNFINISHED_S
    if len(said) > 1 and all(_is_number(word) for word in said[-2:]) and not question:
        return UNFINISHED_S
    if _WHOLE.search(words):
        return FINISHED_S
    return ASKED_S if said[0] in _ASKING and len(said) >= _WHOLE_QUESTION else OPEN_S


def _is_number(word: str) -> bool:
    return word.isdecimal() or word in _NUMBERS
