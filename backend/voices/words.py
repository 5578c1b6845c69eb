"""Texts as rows of words that can be compared, and where two of them differ."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from difflib import SequenceMatcher

_BELOW_TWENTY = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    " fifteen sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"

# Chinese characters and Japanese kana stand for themselves: no blanks tell where words end.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")

# "everyone" and "every one", "color" and "colour", "Jon" and "John" are one sound, but "seven" and
# "eleven" (0.73) are not.
_SAME_SOUND = 0.75


def words_of(text: str) -> list[str]:
    """The words of a text without regard to case, punctuation and how numbers are written.

    Numbers below a hundred are spelled in English. Blanks do not matter in Chinese and Japanese,
    where each character is a word.
    """
    plain = unicodedata.normalize("NFKC", text).casefold()
    plain = re.sub(r"['\u2019]", "", plain)  # "it's" is one word
    return [part for word in _WORD.findall(plain) for part in _spelled(word)]


def _spelled(word: str) -> list[str]:
    if not (word.isascii() and word.isdigit()) or len(word) > 2:
        return [word]
    tens, units = divmod(int(word), 10)
    below_twenty = _BELOW_TWENTY.split()
    if tens < 2:
        return [below_twenty[10 * tens + units]]
    return [_TENS.split()[tens - 2], *below_twenty[units : units + 1 if units else 0]]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A written text beside what was heard.

    Attributes:
        written: How many words are written.
        shared: How many of them were heard.
        not_heard: Words written and not heard, in stretches as they stand in the text.
        not_written: Words heard and not written, in stretches.
    """

    written: int
    shared: int
    not_heard: tuple[str, ...]
    not_written: tuple[str, ...]

    @property
    def agreement(self) -> float:
        """Share of the words of both sides that the two have in common, 0 to 1."""
        strange = sum(len(stretch.split()) for stretch in self.not_heard + self.not_written)
        return 2 * self.shared / max(1, 2 * self.shared + strange)


def compare(written: list[str], heard: list[str]) -> Comparison:
    """Where two rows of words agree; a word that only sounds like another agrees with it."""
    shared, not_heard, not_written = 0, [], []
    matcher = SequenceMatcher(None, written, heard, autojunk=False)
    for kind, first, last, heard_first, heard_last in matcher.get_opcodes():
        ours, theirs = written[first:last], heard[heard_first:heard_last]
        if kind == "equal" or _sound_alike(ours, theirs):
            shared += len(ours)
            continue
        not_heard += [" ".join(ours)] if ours else []
        not_written += [" ".join(theirs)] if theirs else []
    return Comparison(len(written), shared, tuple(not_heard), tuple(not_written))


def _sound_alike(ours: list[str], theirs: list[str]) -> bool:
    one, other = "".join(ours), "".join(theirs)
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return matcher.real_quick_ratio() >= _SAME_SOUND and matcher.ratio() >= _SAME_SOUND
