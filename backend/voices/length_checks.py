"""Whether there is enough speech in a reference clip, and not too much."""

from __future__ import annotations

from backend.voices.findings import Finding, Fix, Severity

GOOD_S = (3.0, 20.0)
"""Qwen3-TTS copies from 3 s on, XTTS from 6 s, and F5-TTS cuts what is longer than 12 s. What is
longer has to be read before the first sound of each reply."""

_MANY_PAUSES = 0.5
_LITTLE_S = 0.2  # nobody misses it


def check_length(speech_s: float, kept_s: float, range_s: tuple[float, float]) -> Finding:
    """Judge how long the speech is.

    Args:
        speech_s: The speech without its pauses.
        kept_s: The same with pauses and a margin: what the engine would be given.
        range_s: Shortest and longest clip that the engine takes.
    """
    shortest, longest = range_s
    spoken = f"There are {speech_s:.1f} s of speech in this clip"
    if min(speech_s, kept_s) < shortest:
        message = f"{spoken}; the engine needs {shortest:g} s. Record {GOOD_S[0]:g} s or more."
        return Finding("speech_too_short", Severity.STOP, message, (Fix.RECORD_AGAIN,))
    if kept_s > longest:
        message = f"The speech is {_length(kept_s)} long; the engine takes at most {longest:g} s."
        return Finding("speech_too_long", Severity.STOP, message, (Fix.TRIM, Fix.RECORD_AGAIN))
    if speech_s < GOOD_S[0]:
        message = f"{spoken}. A copy gets more like the voice from {GOOD_S[0]:g} s on."
        return Finding("speech_short", Severity.WARN, message, (Fix.RECORD_AGAIN,))
    if kept_s > GOOD_S[1]:
        message = (
            f"The speech is {_length(kept_s)} long. Beyond {GOOD_S[1]:g} s a copy gets hardly"
            " better, and takes longer to begin."
        )
        return Finding("speech_long", Severity.WARN, message)
    return Finding("speech_length", Severity.FINE, f"{spoken}, enough for a copy.")


def check_pauses(speech_s: float, kept_s: tuple[float, float], clip_s: float) -> list[Finding]:
    """Name what is left out around the part that is kept, and long pauses within it."""
    found = []
    length = kept_s[1] - kept_s[0]
    if clip_s - length > _LITTLE_S:
        message = (
            f"What is kept is the speech from {kept_s[0]:.1f} to {kept_s[1]:.1f} s;"
            f" {_length(clip_s - length)} around it are left out."
        )
        found.append(Finding("trimmed", Severity.NOTE, message, (Fix.TRIM,)))
    pauses = 1.0 - speech_s / length
    if pauses > _MANY_PAUSES:
        message = f"Nobody speaks in {pauses:.0%} of the clip. The copy may make long pauses too."
        found.append(Finding("long_pauses", Severity.WARN, message, (Fix.RECORD_AGAIN,)))
    return found


def _length(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds / 60:.1f} min"
