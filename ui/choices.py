"""What a person chose under Settings, and what of it an engine is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from backend.contract.errors import Field, TurnRefused
from backend.contract.turn import TurnSettings
from backend.contract.voice import VoiceControls, VoiceMode, VoiceSpec


@dataclass(frozen=True, slots=True)
class VoiceChoices:
    """The voice part's values, in its order."""

    speaker: str = ""
    language: str = "auto"
    style: str = ""
    pass_token_ids: bool = False
    speed: float = 1.0

    def known_to(self, controls: VoiceControls) -> VoiceChoices:
        """The same, with the engine's default in place of what this engine does not know."""
        automatic = "auto" in controls.languages or not controls.languages
        language = "auto" if automatic else controls.languages[0]
        return VoiceChoices(
            speaker=_known(self.speaker, controls.speakers),
            language=self.language if self.language in controls.languages else language,
            style=self.style if controls.style_chars else "",
            pass_token_ids=self.pass_token_ids and controls.takes_token_ids,
            speed=self.speed if controls.changes_speed else 1.0,
        )

    def spec(self, controls: VoiceControls, *, keeps: bool = False) -> VoiceSpec:
        """The voice that this engine is asked for.

        Args:
            controls: What the engine lets people choose.
            keeps: Whether a kept voice is going to take its place.

        Raises:
            TurnRefused: ``style_too_long``, or ``reference_missing`` where the engine has no
                voice but a kept one.
        """
        chosen = self.known_to(controls)
        if len(chosen.style) > controls.style_chars:
            count, limit = f"{len(chosen.style):,}", f"{controls.style_chars:,}"
            text = f"The style has {count} characters; the limit is {limit}."
            raise TurnRefused("style_too_long", text, Field.VOICE)
        if controls.modes == (VoiceMode.CLONE,) and not keeps:
            raise TurnRefused("reference_missing", ONLY_COPIES, Field.VOICE)
        return VoiceSpec(
            mode=next((mode for mode in controls.modes if mode is not VoiceMode.CLONE), None),
            speaker=chosen.speaker,
            language=chosen.language,
            style=chosen.style.strip(),
            pass_token_ids=chosen.pass_token_ids,
        )


ONLY_COPIES = (
    "This engine speaks only in copied voices: keep one in the Voice lab and press Use in the"
    " conversation."
)


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

    def for_turn(self, controls: VoiceControls | None, *, keeps: bool = False) -> TurnSettings:
        """What of it the engine is told.

        Args:
            controls: What the engine lets people choose; none while it has never been ready, and
                then it answers in its own way.
            keeps: Whether the conversation has a kept voice, which takes the place of this one.

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
        return replace(settings, voice_speed=speed, voice=self.voice.spec(controls, keeps=keeps))


def _known(value: str, offered: Sequence[str]) -> str:
    """The one of those offered that is meant; else the first, or nothing if there is none."""
    return value if value in offered else next(iter(offered), "")
