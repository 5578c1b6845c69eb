"""What the next prompt is told of the turns before it."""

from __future__ import annotations

from collections.abc import Iterable

from backend.contract.events import Outcome
from backend.contract.turn import Exchange
from backend.conversation.record import TurnRecord


def exchanges(records: Iterable[TurnRecord]) -> tuple[Exchange, ...]:
    """The exchanges that really took place, oldest first, roles alternating.

    A turn counts when both sides said something. Silent turns would teach silence, failed ones
    would leave an empty reply; both are left out. Of an interrupted reply, the part that was
    shown counts, also while its work is only just being stopped.
    """
    return tuple(
        Exchange(user=record.question, assistant=record.reply.strip())
        for record in records
        if record.outcome in (Outcome.ANSWERED, Outcome.CANCELLED, None)
        and record.question
        and record.reply.strip()
    )
