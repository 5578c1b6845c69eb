"""What is to be known of one kind of work of MiMo-Audio."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from backend.contract.tasks import TaskKind
from backend.engines.omni.mimo import tokens


class Ending(StrEnum):
    """How a prompt ends, and so how the reply begins."""

    SPEAK = f"{tokens.IM_START}assistant\n{tokens.SOSTM}"
    THINK = f"{tokens.IM_START}assistant\n{tokens.THINK}\n"
    NOTHINK = f"{tokens.IM_START}assistant\n{tokens.THINK}\n\n{tokens.END_THINK}\n"


@dataclass(frozen=True, slots=True)
class Sampling:
    """Fields of vLLM's ``SamplingParams`` for the stage that thinks (stage 0).

    ``max_tokens`` counts words and groups of sound together.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = -1
    repetition_penalty: float = 1.0
    max_tokens: int = 2048
    seed: int = 42


SPOKEN = Sampling(repetition_penalty=1.1)
"""Greedy, since the model makes its sound by a greedy choice of its own between word and sound:
where the two differ, sound is made for steps that are read back as words."""


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """How one kind of work is put to the model.

    Attributes:
        kind: The kind of work.
        user: The user's turn, with slots for inputs and phrases. In a dialogue, of every turn.
        ending: How the prompt ends.
        sampling: Of stage 0.
        system: The system turn without a voice clip; none where empty.
        voiced_system: The system turn before a voice clip.
    """

    kind: TaskKind
    user: str
    ending: Ending = Ending.SPEAK
    sampling: Sampling = SPOKEN
    system: str = ""
    voiced_system: str = ""

    @property
    def modalities(self) -> list[str]:
        """``output_modalities`` to ask for. A text-only reply must not be asked for sound."""
        return ["text", "audio"] if self.kind.speaks else ["text"]
