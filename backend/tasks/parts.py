"""Long work in parts: each is a request of its own, and nothing is lost between two of them."""

from __future__ import annotations

from dataclasses import replace

from backend.contract.media import AudioClip
from backend.contract.tasks import TaskRequest
from backend.conversation.sentences import cut_all
from backend.media.pauses import MAX_PIECE_S, pieces

PART_CHARS = 300
"""Longest text that is spoken in one go, in characters: about 20 s, or 60 s of Chinese."""

TRANSCRIBES = "audio_trancribing_sft"
"""The task whose recording may be longer than a model hears in one go."""

SPEAKS_TEXT = frozenset({"tts_sft", "tts_sft_with_instruct", "tts_sft_with_audio"})
"""The tasks whose text is spoken as it is, so that it may be cut."""


def parts_of(request: TaskRequest) -> list[TaskRequest]:
    """The same work as requests of which each is short; one where there is nothing to cut."""
    if request.task == TRANSCRIBES and request.clip:
        return [replace(request, clip=piece) for piece in pieces(request.clip, MAX_PIECE_S)]
    if request.task in SPEAKS_TEXT and len(request.text) > PART_CHARS:
        return [replace(request, text=text) for text in _texts(request.text)]
    return [request]


def size_of(request: TaskRequest) -> float:
    """How much work a part is, compared with others of the same whole."""
    return _seconds(request.clip) or len(request.text) or 1.0


def _texts(text: str) -> list[str]:
    """Sentences joined to parts of at most ``PART_CHARS``, without the blanks around these."""
    parts = [""]
    for sentence in cut_all(text):
        if len(parts[-1]) + len(sentence.rstrip()) > PART_CHARS:
            parts.append("")
        parts[-1] += sentence
    # A part without any word, such as a long rule of dashes, has nothing to be spoken.
    return [part.strip() for part in parts if any(sign.isalnum() for sign in part)] or [text]


def _seconds(clip: AudioClip | None) -> float:
    return clip.duration_s if clip else 0.0
