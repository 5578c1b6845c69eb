"""The words in which a file is refused."""

from __future__ import annotations

import math

from backend.contract.errors import Field, TurnRefused

_NOUN = {Field.AUDIO: "recording", Field.VIDEO: "video", Field.IMAGE: "picture"}

_ACCEPTED = {
    Field.AUDIO: "WAV, MP3, M4A, AAC, FLAC, OGG (Opus or Vorbis) or WebM",
    Field.VIDEO: "MP4, MOV, WebM, MKV or AVI",
    Field.IMAGE: "PNG, JPEG, WebP, GIF or BMP",
}


def noun(field: Field) -> str:
    """What people call the thing in ``field``."""
    return _NOUN[field]


def in_words(seconds: float) -> str:
    """A length of time for people: ``0.05 s``, ``3.2 s``, ``6 min 10 s``, ``2 h 5 min``."""
    if seconds < 10:
        return f"{seconds:.2g} s"
    whole = math.ceil(seconds - 0.01)
    if whole < 60:
        return f"{whole} s"
    size, part, unit, small = (60, 1, "min", "s") if whole < 3600 else (3600, 60, "h", "min")
    rest = whole % size // part
    return f"{whole // size} {unit}" + (f" {rest} {small}" if rest else "")


def unreadable(field: Field) -> TurnRefused:
    """The one refusal for a file that is missing, empty, damaged throughout or of another kind.

    It is the same for all of them, so that nobody learns from it which files exist.
    """
    text = f"This file cannot be read as a {noun(field)}. Send {_ACCEPTED[field]}."
    return TurnRefused(f"{field}_unreadable", text, field)


def too_large(size: int, limit: int, field: Field) -> TurnRefused:
    """A file of ``size`` bytes where ``limit`` bytes are allowed."""
    # Rounded up, so that a file just over the limit does not read as if it were within it.
    actual = math.ceil(size / 1e5) / 10
    text = f"This {noun(field)} is a file of {actual:g} MB; the limit is {limit / 1e6:g} MB."
    return TurnRefused(f"{field}_too_large", text, field)


def too_long(seconds: float, limit_s: float, field: Field) -> TurnRefused:
    """A clip of ``seconds`` where ``limit_s`` seconds are allowed."""
    text = f"This {noun(field)} is {in_words(seconds)} long; the limit is {in_words(limit_s)}."
    return TurnRefused(f"{field}_too_long", text, field)


def too_many_pixels(width: int, height: int, limit: int, field: Field) -> TurnRefused:
    """Pictures of ``width`` by ``height`` pixels where ``limit`` pixels are allowed."""
    text = (
        f"This {noun(field)} has {width} x {height} pixels; the limit is {limit / 1e6:.0f} "
        "million pixels. Send a smaller one."
    )
    return TurnRefused(f"{field}_too_many_pixels", text, field)
