"""Which NVIDIA cards there are, by ``nvidia-smi``."""

from __future__ import annotations

from dataclasses import dataclass

from backend.engines.omni.doctor.machine import CommandFailed, Machine

MIB = 1 << 20

_FIELDS = ("uuid", "name", "memory.total", "memory.free", "driver_version", "compute_cap")
_QUERY = ("nvidia-smi", f"--query-gpu={','.join(_FIELDS)}", "--format=csv,noheader,nounits")

_OPEN_TO_PROGRAMS = 0.985
"""The driver keeps about 1.5 % of the memory that ``nvidia-smi`` tells."""


@dataclass(frozen=True, slots=True)
class Card:
    """A GPU.

    Attributes:
        name: As the driver calls it.
        total_bytes: Its memory.
        free_bytes: What no program holds now.
        driver: Version of the driver, such as ``580.95.05``; empty when unknown.
        capability: CUDA compute capability, such as 8.9; none when unknown.
        uuid: The driver's own id.
    """

    name: str
    total_bytes: int
    free_bytes: int
    driver: str = ""
    capability: float | None = None
    uuid: str = ""

    @property
    def usable_bytes(self) -> int:
        """What programs can have when there is no other; vLLM's shares are parts of it."""
        return int(self.total_bytes * _OPEN_TO_PROGRAMS)


@dataclass(frozen=True, slots=True)
class CardSearch:
    """The cards that the engine would see, in its order, and why there is none."""

    cards: tuple[Card, ...]
    problem: str = ""


def find_cards(machine: Machine) -> CardSearch:
    """Ask ``nvidia-smi``, and leave out what ``CUDA_VISIBLE_DEVICES`` hides."""
    try:
        printed = machine.run(_QUERY)
    except CommandFailed as failure:
        return CardSearch((), f"No NVIDIA card found: {failure}.")
    lines = [line for line in printed.splitlines() if line.strip()]
    cards = [card for card in map(_card, lines) if card]
    if len(cards) < len(lines):
        return CardSearch(
            (), f"nvidia-smi answers what the doctor does not understand: {lines[0]}."
        )
    if not cards:
        return CardSearch((), "nvidia-smi lists no card.")
    visible = machine.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return CardSearch(tuple(cards))
    chosen = _visible(cards, visible)
    hidden = "" if chosen else f"CUDA_VISIBLE_DEVICES={visible!r} hides all {len(cards)} cards."
    return CardSearch(chosen, hidden)


def _card(line: str) -> Card | None:
    try:
        uuid, name, total, free, driver, capability = (part.strip() for part in line.split(","))
        return Card(
            name=name,
            total_bytes=int(total) * MIB,
            free_bytes=int(free) * MIB,
            driver=driver,
            capability=float(capability) if capability[:1].isdigit() else None,
            uuid=uuid,
        )
    except ValueError:
        return None


def _visible(cards: list[Card], visible: str) -> tuple[Card, ...]:
    """As CUDA reads it: by number or by the start of a UUID, up to the first that is not there."""
    chosen: list[Card] = []
    for entry in filter(None, map(str.strip, visible.split(","))):
        if entry.isdigit():
            found = cards[int(entry) : int(entry) + 1]
        else:
            found = [card for card in cards if card.uuid.startswith(entry)][:1]
        if not found:
            break
        chosen += found
    return tuple(chosen)
