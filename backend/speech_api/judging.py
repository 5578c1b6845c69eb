"""The quality of a take, as it is told to a page or another client."""

from __future__ import annotations

import asyncio

from backend.contract.errors import EngineFailed
from backend.contract.media import AudioClip
from backend.engines.ears import Ears
from backend.media.pauses import pieces
from backend.voices.quality import similarity, word_error_rate
from backend.voices.speaker import load_encoder
from backend.voices.words import compare, words_of

LONGEST_S = 120.0
"""Longest take that is judged, in seconds: hearing takes a fifth of a take's length and more."""


_PIECE_S = 15.0  # heard in 3 s or so, which another person's question may wait


class Judge:
    """Judges one take at a time, so that many of them do not take the engine's cores."""

    def __init__(self, ears: Ears) -> None:
        """Judge by what ``ears`` hear."""
        self._ears = ears
        self._turn = asyncio.Lock()

    async def judge(
        self, take: AudioClip, words: str, reference: AudioClip | None
    ) -> dict[str, object]:
        """How like its voice a take is, and how right its words are.

        Args:
            take: The take, at most ``LONGEST_S`` long.
            words: What it was to say.
            reference: The recording that its voice was copied from, if any.

        Returns:
            ``similarity``, 0 to 1, or none without a reference; ``heard``, ``word_error_rate``,
            ``not_heard`` and ``not_written``, each none where nothing here hears its language.
        """
        async with self._turn:
            likeness = await asyncio.to_thread(_likeness, take, reference) if reference else None
            heard = await self._hear(take, words)
        told: dict[str, object] = {"similarity": likeness, "heard": heard}
        if heard is None:
            return told | {"word_error_rate": None, "not_heard": None, "not_written": None}
        return told | await asyncio.to_thread(_errors, words, heard)

    async def _hear(self, take: AudioClip, words: str) -> str | None:
        """The words, piece by piece: between two pieces somebody else's question is heard."""
        heard = []
        for piece in pieces(take, _PIECE_S):
            try:
                heard.append(await self._ears.hear(piece, words))
            except EngineFailed:
                return None
        return None if None in heard else " ".join(filter(None, heard))


def _errors(words: str, heard: str) -> dict[str, object]:
    differences = compare(words_of(words), words_of(heard))
    return {
        "word_error_rate": round(word_error_rate(words, heard), 4),
        "not_heard": differences.not_heard,
        "not_written": differences.not_written,
    }


def _likeness(take: AudioClip, reference: AudioClip) -> float:
    return round(max(0.0, similarity(take, reference, load_encoder())), 4)
