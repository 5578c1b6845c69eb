"""Whether the words that a person wrote are the words that are spoken in the clip."""

from __future__ import annotations

from backend.voices.findings import Finding, Fix, Severity
from backend.voices.words import Comparison, compare, words_of

# The fastest speech that is still understood is 6 to 7 words a second, or 8 syllables, which is
# about as many Chinese characters.
_MOST_WORDS_PER_S = 10.0

_AGREES = 0.9  # small recognisers mistake about one word in ten
_DIFFERS = 0.5
_SHOWN = 12  # words of a difference; a person finds the rest
_FROM_WORDS = (Fix.USE_HEARD_TEXT, Fix.X_VECTOR_ONLY)


def check_text(text: str, heard: str, speech_s: float) -> Finding:
    """Compare the reference text with the words that were recognised.

    Args:
        text: What the person wrote.
        heard: What was recognised in the part of the clip that is kept; may be empty.
        speech_s: Length of that part in seconds.

    Returns:
        ``text_missing`` or ``text_impossible``, which stop; ``text_differs`` or
        ``text_unchecked``, which warn; ``text_nearly`` or ``text_agrees``.
    """
    written, spoken = words_of(text), words_of(heard)
    if not written:
        return _missing(spoken)
    if len(written) > _MOST_WORDS_PER_S * speech_s:
        message = (
            f"The text has {len(written)} words, but nobody can say them in the {speech_s:.1f} s"
            " of this clip. A copy from it would not end, or be noise."
        )
        return Finding("text_impossible", Severity.STOP, message, _fixes(spoken))
    if not spoken:
        message = (
            "No words could be recognised in the clip, so the text was not checked. Read it"
            " along with the clip."
        )
        return Finding("text_unchecked", Severity.WARN, message, (Fix.X_VECTOR_ONLY,))
    return _compared(compare(written, spoken))


def _missing(spoken: list[str]) -> Finding:
    message = "There is no text yet. Write the words of the clip"
    message += ", or take those that were heard" if spoken else ""
    message += ", or copy the sound of the voice only."
    return Finding("text_missing", Severity.STOP, message, _fixes(spoken))


def _compared(found: Comparison) -> Finding:
    if found.agreement == 1.0:
        message = f"All {found.written} words of the text were heard in the clip."
        return Finding("text_agrees", Severity.FINE, message)
    message = f"{found.shared} of the {found.written} words of the text were heard."
    message += _named(" Not heard", found.not_heard) + _named(
        " Heard but not written", found.not_written
    )
    if found.agreement >= _AGREES:
        return Finding("text_nearly", Severity.NOTE, message, (Fix.USE_HEARD_TEXT,))
    if found.agreement < _DIFFERS:
        message += " This looks like the text of another clip."
    message += " A copy may say words of the clip, or not come to an end."
    return Finding("text_differs", Severity.WARN, message, _FROM_WORDS)


def _named(label: str, stretches: tuple[str, ...]) -> str:
    if not stretches:
        return ""
    words, parts = 0, []
    for stretch in stretches:
        left = stretch.split()[: _SHOWN - words]
        words += len(left)
        parts += [" ".join(left)] if left else []
    total = sum(len(stretch.split()) for stretch in stretches)
    more = f" and {total - words} more" if total > words else ""
    quoted = ", ".join(f"\u201c{part}\u201d" for part in parts)
    return f"{label}: {quoted}{more}."


def _fixes(spoken: list[str]) -> tuple[Fix, ...]:
    return _FROM_WORDS if spoken else (Fix.X_VECTOR_ONLY,)
