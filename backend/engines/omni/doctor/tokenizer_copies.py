"""Where the copies of MiMo-Audio's audio tokenizer are, and the memory that they take.

The app has one, which reads the clips. Each stage's process loads one too, though only the last one
works, which makes the sound. A stage whose workers are processes of their own, as vLLM has them on
a CPU and for a model on several cards, has one more for each of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from backend.engines.omni.doctor.memory import CONTEXT_BYTES
from backend.engines.omni.doctor.models import GIB
from backend.engines.omni.doctor.profile import Profile
from backend.engines.omni.doctor.stage_plan import MIMO, Role, StagePlan

COPY_GIB = 2.4
"""1.28 billion numbers in bf16; on a CPU it is twice as much, for there they are float32."""

_DECODE_GRAPHS = int(0.4 * GIB)
"""Twenty graphs of its decoder, which every copy on a card captures, needed or not. A guess."""


@dataclass(frozen=True, slots=True)
class TokenizerCopy:
    """One copy.

    Attributes:
        holder: Whose process it is in, in words.
        card: The card that it is on, as the deploy file counts; none for the CPU.
        outside_bytes: What it takes of that card outside the shares of the stages.
    """

    holder: str
    card: int | None
    outside_bytes: int


def tokenizer_copies(profile: Profile) -> tuple[TokenizerCopy, ...]:
    """Those of the app and of each stage; none for other pipelines."""
    if profile.pipeline != MIMO:
        return ()
    each = int(COPY_GIB * GIB) + _DECODE_GRAPHS
    of_app = _card(profile.tokenizer_device, (0,))
    copies = [TokenizerCopy("the app", of_app, 0 if of_app is None else each + CONTEXT_BYTES)]
    for stage in profile.stages:
        card = _card(device_of(stage, profile), stage.devices)
        outside = 0 if card is None or stage.role is Role.SOUND else each
        copies.append(TokenizerCopy(f"stage {stage.number}", card, outside))
    return tuple(copies)


def device_of(stage: StagePlan, profile: Profile) -> str:
    """Where a stage's copy is to run: ``cpu``, a card as the stage counts its own, or empty."""
    return stage.tokenizer_device or profile.tokenizer_device


def decodes_on_card(stage: StagePlan, profile: Profile) -> bool:
    """Whether a sound stage works on its card; only MiMo-Audio's can be told not to."""
    return profile.pipeline != MIMO or device_of(stage, profile) != "cpu"


def _card(device: str, own: tuple[int, ...]) -> int | None:
    if device == "cpu":
        return None
    number = int(device.partition(":")[2] or 0)
    # The app sees every card, a stage its own alone, as cuda:0 and so on.
    return own[number] if number < len(own) else number
