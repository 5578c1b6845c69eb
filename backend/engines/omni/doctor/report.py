"""What the doctor found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from backend.engines.omni.doctor.cards import Card
from backend.engines.omni.doctor.packages import Package
from backend.engines.omni.doctor.placement import Placement


class Level(StrEnum):
    """How much a finding matters."""

    OK = "ok"
    """Looked at, and right."""

    NOTE = "note"
    """Good to know; nothing has to be done."""

    TO_DO = "to do"
    """The engine does not start, or not as asked, before this is done."""

    STOP = "stop"
    """The deploy file cannot be read, so there is no more to say about it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know.

    Attributes:
        level: How much it matters.
        text: In plain words.
        command: What to type, or empty.
    """

    level: Level
    text: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """All that the doctor found; ``str`` of it is for people.

    Attributes:
        profile: The deploy file, as it was given.
        findings: What to know and to do, in the order of the examination.
        packages: What the requirements ask for and what is installed.
        cards: The cards that are there.
        placement: The stages on those cards, or on the card that the profile names; none when
            neither is known.
        placed_on: Which of the two, in words.
    """

    profile: str
    findings: tuple[Finding, ...]
    packages: tuple[Package, ...] = ()
    cards: tuple[Card, ...] = ()
    placement: Placement | None = None
    placed_on: str = ""

    @property
    def exit_code(self) -> int:
        """0: ready. 1: something is to be done. 2: the deploy file cannot be read."""
        levels = {finding.level for finding in self.findings}
        return 2 if Level.STOP in levels else int(Level.TO_DO in levels)

    def __str__(self) -> str:
        from backend.engines.omni.doctor.printing import print_report

        return print_report(self)
