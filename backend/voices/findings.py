"""What the check of a reference clip finds, in words for the person whose clip it is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """What a finding means for the copy."""

    STOP = "stop"
    """No voice can be copied from this."""

    WARN = "warn"
    """The copy will be worse for it."""

    NOTE = "note"
    """Good to know; the copy is hardly worse for it."""

    FINE = "fine"
    """As it should be."""


class Fix(StrEnum):
    """What a person can do about a finding with one click."""

    TRIM = "trim"
    """Keep the part of the clip that the report names."""

    USE_HEARD_TEXT = "use_heard_text"
    """Take the words that were heard as the reference text."""

    X_VECTOR_ONLY = "x_vector_only"
    """Copy the sound of the voice alone, which needs no words."""

    RECORD_AGAIN = "record_again"
    """Make another recording."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        code: Stable machine name, such as ``speech_too_short``.
        severity: What it means for the copy.
        text: What was found, with its number, and what follows from it.
        fixes: What can be done about it, the best first.
    """

    code: str
    severity: Severity
    text: str
    fixes: tuple[Fix, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """The whole of a check.

    Attributes:
        findings: The gravest first.
        kept_s: First and last second of the part that a copy should be made from; speech with
            a margin around it. Both 0 when nobody speaks.
        heard: The words that were recognised in that part; empty when none were, or when words
            were not asked for.
    """

    findings: tuple[Finding, ...]
    kept_s: tuple[float, float] = (0.0, 0.0)
    heard: str = ""

    @property
    def usable(self) -> bool:
        """Whether a voice may be copied from the part that is kept."""
        return all(finding.severity is not Severity.STOP for finding in self.findings)


def gravest_first(findings: list[Finding]) -> tuple[Finding, ...]:
    """Findings in the order of ``Severity``, those of one severity as they came."""
    order = list(Severity)
    return tuple(sorted(findings, key=lambda finding: order.index(finding.severity)))
