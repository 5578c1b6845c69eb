"""What a person is told when a voice cannot be kept, changed or used."""

from __future__ import annotations

from enum import StrEnum


class Part(StrEnum):
    """The part of a voice that a refusal concerns."""

    NAME = "name"
    CLIP = "clip"
    WORDS = "words"
    CONSENT = "consent"
    SPEAKER = "speaker"
    STYLE = "style"
    VOICE = "voice"
    FILE = "file"


class VoiceRefused(Exception):  # noqa: N818 - a refusal is an answer, not a fault
    """Something cannot be done with a voice, with the reason in plain words.

    Attributes:
        code: Stable machine name, such as ``name_taken``.
        message: One or two sentences for the person.
        part: What has to change.
    """

    def __init__(self, code: str, message: str, part: Part = Part.VOICE) -> None:
        """Store the three values; ``str(refusal)`` is the message."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.part = part


def no_such_voice() -> VoiceRefused:
    """There is none with this id, or it is another person's."""
    return VoiceRefused("voice_unknown", "This voice does not exist any more.")
