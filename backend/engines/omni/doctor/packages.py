"""Which packages the engine needs, and which are there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from backend.engines.omni.doctor.machine import Machine


@dataclass(frozen=True, slots=True)
class Package:
    """One line of the requirements.

    Attributes:
        name: The package.
        wanted: Its version, exactly.
        found: The version that is installed; none when it is missing.
    """

    name: str
    wanted: str
    found: str | None

    @property
    def fits(self) -> bool:
        """The version is the wanted one; ``2.13.0+cu130`` is a build of ``2.13.0``."""
        return self.found is not None and self.found.split("+")[0] == self.wanted


def read_packages(requirements: Path, machine: Machine) -> tuple[Package, ...]:
    """Compare a requirements file of ``name==version`` lines with what is installed."""
    pinned = [
        line.split(";")[0].split("#")[0].partition("==")
        for line in requirements.read_text(encoding="utf-8").splitlines()
        if "==" in line and not line.lstrip().startswith(("#", "-"))
    ]
    return tuple(
        Package(name, wanted.strip(), machine.version_of(name))
        for name, wanted in ((left.split("[")[0].strip(), right) for left, _, right in pinned)
    )
