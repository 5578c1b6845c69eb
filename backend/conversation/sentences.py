# ruff: noqa: RUF001 - Chinese punctuation ends sentences too
"""Cuts a reply that is still being written into pieces that can be spoken one by one."""

from __future__ import annotations

import re

MAX_PIECE_CHARS = 220
"""Longest piece in characters, code blocks apart: about 15 seconds of speech."""

FIRST_CLAUSE_CHARS = 25
"""Shortest opening clause that is spoken before its sentence is complete, in characters."""

FIRST_PHRASE_CHARS = 15
"""Shortest opening phrase that is spoken alone when there is hurry: three words, one second."""

# Kept as prose, which is easier to read and to add to than a list of literals.
_ABBREVIATIONS = frozenset(
    re.findall(
        r"\S+",
        "dr mr mrs ms prof sr jr st vs etc e.g i.e a.m p.m u.s u.k no fig vol approx inc ltd co"
        " dept est jan feb mar apr jun jul aug sep sept oct nov dec mt gen col sgt rev hon",
    )
)
_ENDS = re.compile(r"[.!?…]+[\"'”’)\]*_]*(?=\s)|[。！？]+[”’」』）]*|\n+")
_CLAUSE = re.compile(r"[,;:—–](?=\s)|[，；：、]")
# Where people may draw breath in a sentence that has no comma: before words like these. What may
# still become another word counts too: to wait for its end would cost the time of a token.
_PHRASE = re.compile(
    r"\s(?=(?:and|or|but|so|because|if|when|while|where|which|who|that|than|as|with|without|from|for"
    r"|into|in|on|at|by|about|is|are|was|were|can|could|will|would|has|have|had)(?:\s|$))"
)
_FENCE = re.compile(r"^[ \t]*(```|~~~)", re.MULTILINE)
_WORD_BEFORE = re.compile(r"([\w.]+)\.[\"'”’)\]*_]*$")


class SentenceCutter:
    """Takes the reply as it comes and gives whole pieces; joined, they are the reply itself."""

    def __init__(self, *, hurried: bool = False) -> None:
        """Start with an empty reply.

        Args:
            hurried: Whether the opening may also end between two phrases, where a voice would not
                stop: for writers so slow that the sentence's end takes noticeably long.
        """
        self._rest = ""
        self._first = True
        self._opening_ends = [(_CLAUSE, FIRST_CLAUSE_CHARS)]
        if hurried:
            self._opening_ends.append((_PHRASE, FIRST_PHRASE_CHARS))

    def feed(self, delta: str) -> list[str]:
        """Take the next characters and return the pieces that they complete."""
        self._rest += delta
        pieces: list[str] = []
        while (end := self._next_cut()) is not None:
            pieces.append(self._rest[:end])
            self._rest = self._rest[end:]
            self._first = self._first and not pieces[-1].strip()
        return pieces

    def finish(self) -> list[str]:
        """End the reply and return what is left of it."""
        rest, self._rest = self._rest, ""
        return [rest] if rest else []

    def _next_cut(self) -> int | None:
        """End of the first piece, or none while more text may still belong to it."""
        fence = _FENCE.search(self._rest)
        before = self._rest[: fence.start()] if fence else self._rest
        end = _sentence_end(before)
        if end is None and fence:
            end = fence.start() or self._fence_end(fence)
            return end if fence.start() == 0 else min(end or fence.start(), fence.start())
        if end is None and self._first:
            end = self._opening_end(before)
        if (end or len(before)) > MAX_PIECE_CHARS:
            return _cut_by_length(before)
        return end

    def _opening_end(self, text: str) -> int | None:
        """End of the first clause or phrase that is long enough, or none so far."""
        ends = [
            end.end() + _blanks_after(text, end.end())
            for pattern, shortest in self._opening_ends
            for end in pattern.finditer(text)
            if len(text[: end.end()].strip()) >= shortest
        ]
        return min(ends, default=None)

    def _fence_end(self, fence: re.Match[str]) -> int | None:
        """End of the code block that ``fence`` opens, after its closing line."""
        close = re.compile(rf"^[ \t]*{fence[1]}[ \t]*\n", re.MULTILINE)
        found = close.search(self._rest, fence.end())
        return found.end() if found else None


def cut_all(text: str) -> list[str]:
    """The pieces of a finished text; joined, they are the text itself."""
    cutter = SentenceCutter()
    return cutter.feed(text) + cutter.finish()


def _sentence_end(text: str) -> int | None:
    """End of the first sentence with the blanks after it, or none while it is open."""
    for end in _ENDS.finditer(text):
        if not _is_abbreviation(text[: end.end()]) and text[: end.end()].strip():
            return end.end() + _blanks_after(text, end.end())
    return None


def _is_abbreviation(text: str) -> bool:
    before = _WORD_BEFORE.search(text)
    if before is None:
        return False
    word = before[1].lower()
    line_start = not text[: before.start()].rsplit("\n", maxsplit=1)[-1].strip(" *_#>-")
    return (
        word in _ABBREVIATIONS
        or (len(word) == 1 and word.isalpha() and word != "i")
        or (word.isdecimal() and len(word) <= 3 and line_start)
    )


def _blanks_after(text: str, start: int) -> int:
    return len(text[start:]) - len(text[start:].lstrip())


def _cut_by_length(text: str) -> int:
    """A cut within ``MAX_PIECE_CHARS``: after the last clause, else word, else anywhere."""
    window = text[:MAX_PIECE_CHARS]
    clauses = [clause.end() for clause in _CLAUSE.finditer(window)]
    blanks = [blank.end() for blank in re.finditer(r"\s+", window)]
    for cuts in (clauses, blanks):
        usable = [cut for cut in cuts if window[:cut].strip() and cut < len(text)]
        if usable:
            return usable[-1]
    return MAX_PIECE_CHARS
