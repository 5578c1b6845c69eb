"""A prompt: words, and the clips that stand between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from backend.contract.media import AudioClip
from backend.engines.omni.mimo.clips import groups_of
from backend.engines.omni.mimo.tokens import EMPTY, clean

CountTokens = Callable[[str], int]
"""Tokens of a text in the model's tokenizer, each control token counting as one."""


@dataclass(frozen=True, slots=True, eq=False)
class Prompt:
    """What stage 0 gets.

    Attributes:
        text: With one ``<|empty|>`` for each clip.
        audios: The clips, in the order in which they stand in the text.
    """

    text: str
    audios: tuple[AudioClip, ...] = ()

    def __post_init__(self) -> None:
        if self.text.count(EMPTY) != len(self.audios):
            raise ValueError("The prompt has not as many placeholders as clips.")

    def tokens(self, count: CountTokens) -> int:
        """Its length, each clip counting with all of its groups."""
        return count(self.text) + sum(groups_of(clip) - 1 for clip in self.audios)

    def as_input(self) -> dict[str, Any]:
        """The same as vLLM-Omni takes it; without clips, the key for them must not be there."""
        if not self.audios:
            return {"prompt": self.text}
        audio = [(clip.samples, clip.sample_rate) for clip in self.audios]
        return {"prompt": self.text, "multi_modal_data": {"audio": audio}}


class PromptWriter:
    """Writes a prompt from its start to its end."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._text: list[str] = []
        self._audios: list[AudioClip] = []

    def control(self, text: str) -> None:
        """Write what the app says."""
        self._text.append(text)

    def words(self, text: str) -> None:
        """Write what a person or the model said."""
        self._text.append(clean(text))

    def sound(self, clip: AudioClip, *, before: str, after: str) -> None:
        """Write a clip: the only place where a placeholder is written, and its clip with it."""
        self._text.append(before + EMPTY + after)
        self._audios.append(clip)

    def prompt(self) -> Prompt:
        """What has been written."""
        return Prompt("".join(self._text), tuple(self._audios))
