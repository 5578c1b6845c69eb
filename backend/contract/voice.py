"""Whose voice answers: what a person chooses, and what an engine lets them choose."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from backend.contract.media import AudioClip


class VoiceMode(StrEnum):
    """Where the voice comes from."""

    NAMED = "named"
    """One of the speakers that the model was trained with."""

    CLONE = "clone"
    """Copied from reference audio."""

    DESIGN = "design"
    """Made up from a description in words."""


@dataclass(frozen=True, slots=True)
class VoiceSpec:
    """The voice of one reply.

    Attributes:
        mode: Where the voice comes from; none for the engine's first mode.
        speaker: Name of a trained speaker, or empty for the engine's default.
        language: ISO 639-1 code of the language to be spoken, or ``auto``.
        style: How to speak, in words, such as ``warm and slow``.
        reference_audio: The voice to copy; for ``CLONE`` alone.
        reference_text: The words spoken in it.
        x_vector_only: Copy the sound of the voice alone, not its delivery; needs no words.
        pass_token_ids: Hand the talker the language model's tokens instead of text.
    """

    mode: VoiceMode | None = None
    speaker: str = ""
    language: str = "auto"
    style: str = ""
    reference_audio: AudioClip | None = None
    reference_text: str = ""
    x_vector_only: bool = False
    pass_token_ids: bool = False

    def spoken_as(self, language: str, style: str) -> VoiceSpec:
        """This voice in another language and style, where they are told.

        Args:
            language: ISO 639-1 code, or ``auto`` for the voice's own.
            style: How to speak, or empty for the voice's own way. A voice that is made up from
                words keeps them: they are the voice.
        """
        return replace(
            self,
            language=self.language if language == "auto" else language,
            style=self.style if self.mode is VoiceMode.DESIGN else style or self.style,
        )


@dataclass(frozen=True, slots=True)
class VoiceControls:
    """What an engine lets a person choose about the voice; empty and zero mean: not here.

    Attributes:
        modes: Where voices can come from; the first is the default.
        speakers: Names of the trained speakers; the first is the default.
        languages: ISO 639-1 codes that it can be told to speak; may include ``auto``.
        style_chars: Longest style instruction, in characters.
        reference_s: Shortest and longest reference audio, in seconds.
        changes_speed: Whether ``voice_speed`` has an effect.
        changes_pitch: Whether ``voice_pitch`` has an effect.
        takes_token_ids: Whether the talker can be handed tokens instead of text.
        takes_sampling: Whether ``seed`` and ``temperature`` have an effect.
    """

    modes: tuple[VoiceMode, ...] = (VoiceMode.NAMED,)
    speakers: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    style_chars: int = 0
    reference_s: tuple[float, float] = (0.0, 0.0)
    changes_speed: bool = False
    changes_pitch: bool = False
    takes_token_ids: bool = False
    takes_sampling: bool = False
