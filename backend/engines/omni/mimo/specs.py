"""What is to be known of one kind of work of MiMo-Audio."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from backend.engines.omni.mimo import tokens


class Input(StrEnum):
    """What a request can hold; the values are its fields."""

    TEXT = "text"
    INSTRUCT = "instruct"
    VOICE = "voice"
    CLIP = "clip"
    QUESTION = "question"
    SYSTEM_PROMPT = "system_prompt"
    HISTORY = "history"


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
    """One kind of work.

    Attributes:
        name: As upstream spells it.
        user: The user's turn, with slots for inputs and phrases. In a dialogue, of every turn.
        required: Inputs without which there is nothing to do.
        optional: Further inputs that it takes.
        system: The system turn without a voice clip; none where empty.
        voiced_system: The system turn before a voice clip.
        ending: How the prompt ends.
        speaks: Whether the reply is spoken too.
        sampling: Of stage 0.
        variants: Other ways to do it, by name.
    """

    name: str
    user: str
    required: frozenset[Input]
    optional: frozenset[Input] = frozenset()
    system: str = ""
    voiced_system: str = ""
    ending: Ending = Ending.SPEAK
    speaks: bool = True
    sampling: Sampling = SPOKEN
    variants: Mapping[str, TaskSpec] = field(default_factory=dict)

    @property
    def modalities(self) -> list[str]:
        """``output_modalities`` to ask for. A text-only reply must not be asked for sound."""
        return ["text", "audio"] if self.speaks else ["text"]
