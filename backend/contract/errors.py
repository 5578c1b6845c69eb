"""What can go wrong, as values a person can act on."""

from __future__ import annotations

from enum import StrEnum


class Field(StrEnum):
    """The place in the page that a refusal concerns."""

    TEXT = "text"
    AUDIO = "audio"
    VIDEO = "video"
    IMAGE = "image"
    SETTINGS = "settings"
    VOICE = "voice"
    TURN = "turn"


class TurnRefused(Exception):  # noqa: N818 - a refusal is an answer, not a fault
    """A turn that must not reach a model, with the reason in plain words.

    Attributes:
        code: Stable machine name, such as ``audio_too_long``.
        message: One or two sentences for the person who sent the turn.
        field: The input that has to change.
    """

    def __init__(self, code: str, message: str, field: Field = Field.TURN) -> None:
        """Store the three values; ``str(refusal)`` is the message."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field


class EngineFailed(Exception):  # noqa: N818 - reads as the event that it reports
    """The engine cannot serve any turn until it is rebuilt."""
