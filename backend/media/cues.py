"""Captions as files that players read."""

from __future__ import annotations

import html
from collections.abc import Sequence

from backend.contract.events import Cue


def srt(cues: Sequence[Cue]) -> str:
    """The cues as the text of an SRT file."""
    blocks = [
        f"{number}\n{_clock(cue.start_s, ',')} --> {_clock(cue.end_s, ',')}\n"
        f"{_without_blank_lines(cue.text).replace('-->', '->')}\n"
        for number, cue in enumerate(cues, start=1)
    ]
    return "\n".join(blocks)


def vtt(cues: Sequence[Cue]) -> str:
    """The cues as the text of a WebVTT file."""
    blocks = [
        f"{_clock(cue.start_s, '.')} --> {_clock(cue.end_s, '.')}\n"
        f"{html.escape(_without_blank_lines(cue.text), quote=False)}\n"
        for cue in cues
    ]
    return "\n".join(["WEBVTT\n", *blocks])


def _without_blank_lines(text: str) -> str:
    """The text without what would end its cue."""
    return "\n".join(line for line in text.splitlines() if line.strip())


def _clock(seconds: float, point: str) -> str:
    whole, millis = divmod(round(seconds * 1000), 1000)
    minutes, second = divmod(whole, 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour:02}:{minute:02}:{second:02}{point}{millis:03}"
