"""Tells apart what the model writes: its reasoning, its answer, its marks, and its sound."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from backend.engines.omni.mimo.specs import Ending
from backend.engines.omni.mimo.tokens import (
    CONTROL,
    EMPTY_ID,
    END_THINK,
    EOT,
    EOT_ID,
    LONGEST_NAME,
    SOSTM,
    SOSTM_ID,
    THINK,
)

_LANGUAGES = {"<chinese>": "zh", "<english>": "en"}
_WORD_MARKS = (THINK, END_THINK, *_LANGUAGES)
_MARK = re.compile(rf"{CONTROL}|{'|'.join(_WORD_MARKS)}|\.{{5,}}", re.IGNORECASE)
"""All that is not shown as it is; dots in such a row fill time where there is nothing to say."""

_OPEN_CONTROL = re.compile(rf"<(?:\|[^\s|<>]{{0,{LONGEST_NAME}}}\|?)?\Z")
_OPEN_DOTS = re.compile(r"\.+\Z")


@dataclass(frozen=True, slots=True)
class ReplyDelta:
    """What one output of stage 0 adds.

    Attributes:
        reasoning: The next of the reasoning.
        answer: The next of the answer.
        groups: Groups of sound that it adds.
        at_group: Groups of the reply before its first word; those of sound come after the words.
    """

    reasoning: str = ""
    answer: str = ""
    groups: int = 0
    at_group: int = 0


class ReplySplitter:
    """Takes one reply output by output; the text it gives does not depend on the cuts.

    Only ``answer`` may go into the history. Ask stage 0 for ``skip_special_tokens=False``: then
    the marks stand in the text where they belong. Where they are hidden, the token ids tell of
    them at the end of the output that they came in.

    Attributes:
        reasoning: All of the reasoning so far.
        answer: All of the answer so far.
        groups: Groups of sound so far.
        language: ISO 639-1 code that a transcript was marked with, or empty.
        thinking: Whether the reasoning goes on. Still true after ``finish``: it never ended, and
            there is no answer.
    """

    def __init__(self, ending: Ending) -> None:
        """Start a reply to a prompt that ended with ``ending``."""
        self.reasoning = self.answer = self.language = ""
        self.groups = 0
        self.thinking = ending is Ending.THINK
        self._held = ""
        self._cut = False
        self._fresh = ["", ""]

    def feed(self, text: str, token_ids: Sequence[int] = ()) -> ReplyDelta:
        """Take the next output.

        Args:
            text: Its text.
            token_ids: Its tokens.
        """
        lead = sum(1 for _ in takewhile(lambda token: token == EMPTY_ID, token_ids))
        at_group, groups = self.groups + lead, sum(token == EMPTY_ID for token in token_ids)
        self.groups += groups
        self._held += text
        self._read(len(self._held) - self._undecided())
        if SOSTM_ID in token_ids or EOT_ID in token_ids:
            self._read(len(self._held))
            self.thinking = self.thinking and SOSTM_ID not in token_ids
            self._cut = self._cut or EOT_ID in token_ids
        return self._delta(groups, at_group)

    def finish(self) -> ReplyDelta:
        """End the reply and return what was held back because it might have become a mark."""
        self._read(len(self._held))
        return self._delta(0, self.groups)

    def _read(self, end: int) -> None:
        """Sort the held text up to ``end``."""
        ready, self._held = self._held[:end], self._held[end:]
        start = 0
        for mark in _MARK.finditer(ready):
            self._write(ready[start : mark.start()])
            self._obey(mark[0].lower())
            start = mark.end()
        self._write(ready[start:])

    def _obey(self, mark: str) -> None:
        if self._cut:
            return
        if mark in _LANGUAGES and (self.thinking or self.answer):
            self._write(mark)
        elif mark in _LANGUAGES:
            self.language = _LANGUAGES[mark]
        elif mark == THINK:
            self.thinking = True
        elif mark in {END_THINK, SOSTM}:
            self.thinking = False
        elif mark == EOT:
            self._cut = True
        elif mark.startswith(".") and self.thinking:
            self._write(mark)

    def _write(self, text: str) -> None:
        if self._cut:
            return
        if self.thinking:
            text = text if self.reasoning else text.lstrip()
            self.reasoning += text
        else:
            text = text if self.answer else text.lstrip()
            self.answer += text
        self._fresh[self.thinking] += text

    def _undecided(self) -> int:
        """Length of the end of the held text that may still become a mark."""
        text = self._held
        start = text.rfind("<")
        tail = text[start:].lower() if start >= 0 else ""
        if tail and any(mark.startswith(tail) and mark != tail for mark in _WORD_MARKS):
            return len(tail)
        found = _OPEN_CONTROL.search(text) or _OPEN_DOTS.search(text)
        return len(found[0]) if found else 0

    def _delta(self, groups: int, at_group: int) -> ReplyDelta:
        answer, reasoning = self._fresh
        self._fresh = ["", ""]
        return ReplyDelta(reasoning, answer, groups, at_group)
