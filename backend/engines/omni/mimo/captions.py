# ruff: noqa: RUF001 - Chinese punctuation ends sentences too
"""Captions of a spoken reply, timed by the groups of sound between its words."""

from __future__ import annotations

import re
import unicodedata

from backend.contract.events import Cue
from backend.engines.omni.mimo.replies import ReplyDelta
from backend.engines.omni.mimo.tokens import GROUP_S

MIN_S = 1.0
"""Shortest cue, in seconds; no eye follows a faster one."""

LONG_S = 6.0
"""Seconds after which a cue takes no further word."""

MAX_WIDTH = 80
"""Widest cue, in Latin letters; a Chinese character is two wide. Two lines of a player."""

_WIDE = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_PIECE = re.compile(rf"\s*[{_WIDE}]|\s*[^\s{_WIDE}]+|\s+")
_IS_WIDE = re.compile(f"[{_WIDE}]")
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’)\]」』）]*\s*\Z")


class CaptionTrack:
    """Takes the deltas of a reply, and gives its cues at any time.

    A cue ends with a sentence, before the word with which it would be wider than ``MAX_WIDTH``, or
    ``LONG_S`` after it began; but never sooner than ``MIN_S``. It stays until the next one comes,
    the last one to the end of the sound.
    """

    def __init__(self) -> None:
        """Start a reply."""
        self._words: list[str] = []
        self._starts: list[int] = []
        self._groups = 0

    def add(self, delta: ReplyDelta) -> None:
        """Take the next words and the sound after them."""
        text = delta.answer if self._words else delta.answer.lstrip()
        for piece in _PIECE.findall(text):
            if not self._words or _begins_word(self._words[-1], piece):
                self._words.append(piece)
                self._starts.append(delta.at_group)
            else:
                self._words[-1] += piece
        self._groups += delta.groups

    def cues(self) -> list[Cue]:
        """All cues so far; the last may still grow."""
        texts: list[str] = []
        starts: list[float] = []
        for word, group in zip(self._words, self._starts, strict=True):
            at_s = round(group * GROUP_S, 3)
            if not texts or _closes(texts[-1], word, at_s - starts[-1]):
                texts.append(word)
                starts.append(at_s)
            else:
                texts[-1] += word
        if not texts:
            return []
        last_s = max(round(self._groups * GROUP_S, 3), starts[-1] + MIN_S)
        ends = [*starts[1:], last_s]
        shown = [" ".join(text.split()) for text in texts]
        return [Cue(*cue) for cue in zip(starts, ends, shown, strict=True)]


def _begins_word(before: str, piece: str) -> bool:
    """Whether a line may end between the two."""
    if piece.isspace():
        return False
    if before[-1].isspace() or piece[0].isspace() or _IS_WIDE.match(piece):
        return True
    return bool(_IS_WIDE.match(before[-1])) and piece[0].isalnum()


def _closes(text: str, word: str, lasted_s: float) -> bool:
    if lasted_s < MIN_S:
        return False
    too_wide = _width(text + word) > MAX_WIDTH
    return too_wide or lasted_s >= LONG_S or _SENTENCE_END.search(text) is not None


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text.strip())
