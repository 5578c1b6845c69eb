"""All stages of a profile on the cards: does each card hold what is put on it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.engines.omni.doctor.cards import Card
from backend.engines.omni.doctor.memory import CONTEXT_BYTES, GRAPHS_BYTES, StageFit, fit_stage
from backend.engines.omni.doctor.profile import Profile
from backend.engines.omni.doctor.stage_plan import StagePlan
from backend.engines.omni.doctor.tokenizer_copies import decodes_on_card, tokenizer_copies
from backend.engines.omni.doctor.weights import Weights


@dataclass(frozen=True, slots=True)
class CardFit:
    """One card with all that is put on it.

    Attributes:
        number: As the deploy file counts cards.
        card: The card.
        share: Sum of the shares on it.
        outside_bytes: CUDA contexts, graphs and copies of an audio tokenizer, which lie outside
            the shares.
    """

    number: int
    card: Card
    share: float
    outside_bytes: int

    @property
    def taken_bytes(self) -> int:
        """What the stages take together."""
        return int(self.card.usable_bytes * self.share) + self.outside_bytes

    @property
    def holds(self) -> bool:
        """They fit when nothing else is on the card."""
        return self.taken_bytes <= self.card.usable_bytes

    @property
    def held_by_others_bytes(self) -> int:
        """What must be freed before they fit; 0 when they fit now."""
        return max(0, self.taken_bytes - self.card.free_bytes) if self.holds else 0


@dataclass(frozen=True, slots=True)
class Placement:
    """A profile on cards.

    Attributes:
        stages: Its stages; those whose card is not there are left out.
        cards: The cards that it uses.
        absent: Numbers of the cards that it asks for and that are not there.
    """

    stages: tuple[StageFit, ...]
    cards: tuple[CardFit, ...]
    absent: tuple[int, ...]

    @property
    def fits(self) -> bool:
        """It would start on these cards if nothing else were on them."""
        stages_fit = not any(stage.problem for stage in self.stages)
        return not self.absent and stages_fit and all(card.holds for card in self.cards)

    @property
    def sessions(self) -> int:
        """Sessions that can each have a usual turn at work at the same time."""
        return min((fit.turns for fit in self.stages if fit.turns is not None), default=0)

    @property
    def weights_bytes(self) -> int:
        """All weights together: more, in the same models, means less was given up."""
        return sum(fit.weights_bytes for fit in self.stages)


def place(
    profile: Profile, cards: Sequence[Card], weights: Mapping[str, Weights] | None = None
) -> Placement:
    """Put each stage on its cards.

    Args:
        profile: The deploy file.
        cards: The cards, in the order in which it counts them.
        weights: What of each model is on disk, by its name.
    """
    wanted = sorted({number for stage in profile.stages for number in stage.devices})
    absent = tuple(number for number in wanted if number >= len(cards))
    found = weights or {}
    stages = tuple(
        fit_stage(
            stage,
            _smallest(stage, cards),
            found.get(stage.model),
            decodes_on_card=decodes_on_card(stage, profile),
        )
        for stage in profile.stages
        if not set(stage.devices) & set(absent)
    )
    on_cards = tuple(_fit_card(n, cards[n], profile) for n in wanted if n < len(cards))
    return Placement(stages, on_cards, absent)


def named_cards(profile: Profile) -> tuple[Card, ...]:
    """As many of the cards that a profile was made for as it uses, empty."""
    count = 1 + max(number for stage in profile.stages for number in stage.devices)
    size = profile.card_bytes
    return (Card(profile.card, size, int(size * 0.985)),) * (count if size else 0)


def _smallest(stage: StagePlan, cards: Sequence[Card]) -> int:
    return min(cards[number].usable_bytes for number in stage.devices)


def _fit_card(number: int, card: Card, profile: Profile) -> CardFit:
    here = [stage for stage in profile.stages if number in stage.devices]
    outside = sum(CONTEXT_BYTES + (GRAPHS_BYTES if stage.graphs else 0) for stage in here)
    outside += sum(copy.outside_bytes for copy in tokenizer_copies(profile) if copy.card == number)
    return CardFit(number, card, sum(stage.share for stage in here), outside)
