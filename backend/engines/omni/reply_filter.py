"""Takes out of a reply what the model writes for itself: its thoughts and its control tokens."""

from __future__ import annotations

import re

_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"<think>.*\Z", re.DOTALL | re.IGNORECASE)
_STRAY = re.compile(r"</think>|<\|(?:im_start|im_end|endoftext)\|>", re.IGNORECASE)
_MARKERS = ("<think>", "</think>", "<|im_start|>", "<|im_end|>", "<|endoftext|>")


class ReplyFilter:
    """Takes a reply piece by piece; what it lets through does not depend on the cuts."""

    def __init__(self) -> None:
        """Start with an empty reply."""
        self._held = ""

    def feed(self, delta: str) -> str:
        """Take the next piece and return what can no longer be part of a marker."""
        self._held += delta
        return self._release(len(self._held) - self._undecided())

    def finish(self) -> str:
        """End the reply and return the rest; a thought that was never closed is dropped."""
        return _OPEN_THOUGHT.sub("", self._release(len(self._held)))

    def _release(self, end: int) -> str:
        ready, self._held = self._held[:end], self._held[end:]
        return _STRAY.sub("", _THOUGHT.sub("", ready))

    def _undecided(self) -> int:
        """Length of the tail that may still become a marker or belongs to an open thought."""
        text = self._held.lower()
        opened = text.rfind("<think>")
        if opened >= 0 and "</think>" not in text[opened:]:
            return len(text) - opened
        start = text.rfind("<")
        tail = text[start:] if start >= 0 else ""
        begun = any(mark.startswith(tail) and mark != tail for mark in _MARKERS)
        return len(tail) if begun else 0
