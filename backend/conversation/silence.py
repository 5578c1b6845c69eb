"""The one gate between what a model writes and what is shown, spoken and kept."""

from __future__ import annotations

import re

_MARKER = re.compile(
    r"<\s?\|\s?(?:silent|silence)\s?\|\s?>|<(?:silent|silence)>"
    r"|\[(?:silent|silence)\]|\((?:silent|silence)\)",
    re.IGNORECASE,
)
_LONGEST_MARKER = len("< | silence | >")
_OPENERS = "<[("
_MARKS = " \t\r\n.!,…。"


class SilenceGate:
    """Takes a reply piece by piece and lets through what is certainly not a silence marker.

    A marker is ``<|silent|>``, ``<silent>``, ``[silent]`` or ``(silent)``, also as ``silence``
    and in any case. A reply that is nothing but markers, blanks and full stops is silent; a
    marker within a longer reply is taken out. However the reply is cut into pieces, the pieces
    let through join to the same text.
    """

    def __init__(self) -> None:
        """Start with an empty reply."""
        self._held = ""
        self._begun = False
        self._marked = False

    @property
    def silent(self) -> bool:
        """Whether nothing has been let through; after ``finish``, whether no reply is meant."""
        return not self._begun

    def feed(self, delta: str) -> str:
        """Take the next piece of the reply and return the text that is now safe to show."""
        # Character by character, so that the cuts between pieces cannot make a difference.
        return "".join(self._take(character) for character in delta)

    def finish(self) -> str:
        """End the reply and return the text that was held back, empty for a silent reply."""
        rest, self._held = self._held, ""
        if not self._begun:
            rest = rest.lstrip()
            if self._marked and not rest.strip(_MARKS):
                return ""
        self._begun = self._begun or bool(rest)
        return rest

    def _take(self, character: str) -> str:
        self._held, taken = _MARKER.subn("", self._held + character)
        self._marked = self._marked or taken > 0
        ready, self._held = self._held[: self._decided()], self._held[self._decided() :]
        if self._begun:
            return ready
        if not ready.strip(_MARKS):
            # Blanks and full stops at the start may turn out to surround a lone marker.
            self._held = ready + self._held
            return ""
        self._begun = True
        return ready.lstrip()

    def _decided(self) -> int:
        """Length of the held text that can no longer become part of a marker."""
        start = max(0, len(self._held) - _LONGEST_MARKER + 1)
        places = (self._held.find(opener, start) for opener in _OPENERS)
        return min((place for place in places if place >= 0), default=len(self._held))
