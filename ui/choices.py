"""What a person chose under Settings, and what of it an engine is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from backend.contract.errors import Field, TurnRefused
from backend.contract.media import AudioClip
from backend.contract.turn import TurnSettings
from backend.contract.voice import VoiceControls, VoiceMode, VoiceSpec
from backend.media.audio import decode
from backend.media.limits import MediaLimits

T = TypeVar("T", bound=str)


@dataclass(frozen=True, slots=True)
class VoiceChoices:
    """The voice part's values, in its order; ``reference`` is the path of an upload."""

    mode: str = VoiceMode.NAMED
    speaker: str = ""
    language: str = "auto"
    style: str = ""
    reference_text: str = ""
    x_vector_only: bool = False
    pass_token_ids: bool = False
    speed: float = 1.0
    reference: str | None = None

    def known_to(self, controls: VoiceControls) -> VoiceChoices:
        """The same, with the engine's default in place of what this engine does not know."""
        automatic = "auto" in controls.languages or not controls.languages
        language = "auto" if automatic else controls.languages[0]
        return replace(
            self,
            mode=_known(self.mode, controls.modes, VoiceMode.NAMED),
            speaker=_known(self.speaker, controls.speakers, ""),
            language=self.language if self.language in controls.languages else language,
            style=self.style if controls.style_chars else "",
            pass_token_ids=self.pass_token_ids and controls.takes_token_ids,
            speed=self.speed if controls.changes_speed else 1.0,
        )

    def spec(self, controls: VoiceControls, limits: MediaLimits) -> VoiceSpec:
        """The voice that this engine is asked for; reads the reference, so it blocks.

        Raises:
            TurnRefused: ``style_too_long``, ``reference_missing``, ``reference_text_missing``,
                ``reference_too_short``, ``reference_too_long``, ``reference_silent``, or what
                is wrong with the file.
        """
        chosen = self.known_to(controls)
        if len(chosen.style) > controls.style_chars:
            count, limit = f"{len(chosen.style):,}", f"{controls.style_chars:,}"
            text = f"The style has {count} characters; the limit is {limit}."
            raise _refused("style_too_long", text)
        shared = VoiceSpec(
            mode=VoiceMode(chosen.mode),
            language=chosen.language,
            style=chosen.style.strip(),
            pass_token_ids=chosen.pass_token_ids,
        )
        if shared.mode is VoiceMode.NAMED:
            return replace(shared, speaker=chosen.speaker)
        return replace(
            shared,
            reference_audio=self._read_reference(controls.reference_s, limits),
            reference_text="" if self.x_vector_only else self.reference_text.strip(),
            x_vector_only=self.x_vector_only,
        )

    def _read_reference(self, range_s: tuple[float, float], limits: MediaLimits) -> AudioClip:
        if not self.reference:
            text = "Add the voice to copy: upload a clip of it, or record one."
            raise _refused("reference_missing", text)
        if not self.x_vector_only and not self.reference_text.strip():
            text = "Write the words that are spoken in the voice to copy, or copy its sound only."
            raise _refused("reference_text_missing", text)
        path = Path(self.reference)
        shortest, longest = range_s[0], range_s[1] or limits.max_audio_s
        try:
            clip = decode(path, replace(limits, max_audio_s=longest))
        except TurnRefused as refusal:
            code = refusal.code.replace(Field.AUDIO, "reference")
            raise _refused(code, refusal.message) from refusal
        if not shortest <= clip.duration_s <= longest:
            code = "reference_too_long" if clip.duration_s > longest else "reference_too_short"
            taken = f"it must be {shortest:g} to {longest:g} s long"
            raise _refused(code, f"The voice to copy is {clip.duration_s:.2f} s long; {taken}.")
        if not clip.samples.any():
            raise _refused("reference_silent", "There is no sound in the voice to copy.")
        path.touch()  # uploads that are not used are swept
        return clip


@dataclass(frozen=True, slots=True)
class Choices:
    """The settings panel's values."""

    system_prompt: str
    language: str
    max_reply_tokens: int
    frames: int
    voice: VoiceChoices

    @classmethod
    def of(cls, *values: object) -> Choices:
        """From the values of the panel's components, in its order."""
        return cls(*values[:4], VoiceChoices(*values[4:]))  # type: ignore[arg-type]

    def for_turn(self, controls: VoiceControls | None, limits: MediaLimits) -> TurnSettings:
        """What of it the engine is told; reads the reference, so it blocks.

        Args:
            controls: What the engine lets people choose; none while it has never been ready, and
                then it answers in its own way.
            limits: Bounds of the reference beside the engine's own.

        Raises:
            TurnRefused: the voice cannot be had like this; names ``Field.VOICE``.
        """
        settings = TurnSettings(
            system_prompt=self.system_prompt,
            language=self.language,
            max_reply_tokens=int(self.max_reply_tokens),
        )
        if controls is None:
            return settings
        speed = float(self.voice.known_to(controls).speed)
        return replace(settings, voice_speed=speed, voice=self.voice.spec(controls, limits))


def _known(value: str, offered: Sequence[T], default: T) -> T:
    """The one of those offered that is meant; else the first, or the default if there is none."""
    return next((known for known in offered if known == value), (*offered, default)[0])


def _refused(code: str, text: str) -> TurnRefused:
    return TurnRefused(code, text, Field.VOICE)
