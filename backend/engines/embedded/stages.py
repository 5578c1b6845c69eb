"""What the embedded engine asks of its four stages. All of them block and run in threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, Protocol, TypedDict

from backend.contract.media import AudioClip, Samples, VideoFrames

StopSignal = threading.Event
"""Set when the turn is cancelled; a stage looks at it wherever its work can be left."""

Report = Callable[[float], None]
"""Told the share of silent work that is done, 0 to 1, whenever some more is done and never else."""


def no_report(share: float) -> None:
    """A ``Report`` that nobody reads."""


class TextPart(TypedDict):
    """Words in a message that holds pictures too, as the OpenAI chat schema names it."""

    type: Literal["text"]
    text: str


class ImageUrl(TypedDict):
    """Where a picture is; here always a ``data:`` URI."""

    url: str


class ImagePart(TypedDict):
    """A picture in a message, as the OpenAI chat schema names it."""

    type: Literal["image_url"]
    image_url: ImageUrl


class Message(TypedDict):
    """One message of the prompt, as the OpenAI chat schema names it."""

    role: Literal["system", "user", "assistant"]
    content: str | list[TextPart | ImagePart]


class Recognizer(Protocol):
    """Speech to words."""

    @property
    def languages(self) -> tuple[str, ...]:
        """ISO 639-1 codes it understands, and ``auto`` when it can tell by itself."""
        ...

    def load(self) -> None:
        """Bring the model up and run it once."""
        ...

    def close(self) -> None:
        """Free the model. Harmless before ``load`` and twice."""
        ...

    def transcribe(
        self, clip: AudioClip, language: str, stop: StopSignal, report: Report
    ) -> Iterator[str]:
        """The words, a segment at a time; nothing at all when nobody speaks."""
        ...


class Eyes(Protocol):
    """Frames to words."""

    def load(self) -> None:
        """Bring the models up and run them once."""
        ...

    def close(self) -> None:
        """Free the model. Harmless before ``load`` and twice."""
        ...

    def look(self, frames: VideoFrames, stop: StopSignal) -> str:
        """What can be seen, in a few plain words."""
        ...


class ChatModel(Protocol):
    """Messages to a reply."""

    @property
    def sees_pictures(self) -> bool:
        """Whether messages may hold pictures; known after ``load``."""
        ...

    @property
    def context(self) -> int:
        """Tokens that prompt and reply may have together."""
        ...

    def load(self) -> None:
        """Bring the model up and run it once."""
        ...

    def fits(self, messages: Sequence[Message], tokens: int) -> bool:
        """Whether the whole prompt has at most so many tokens."""
        ...

    def reply(
        self, messages: Sequence[Message], max_tokens: int, stop: StopSignal, report: Report
    ) -> Iterator[str]:
        """The reply, a few characters at a time."""
        ...

    def check(self) -> None:
        """Return when it can serve; raise any exception when it cannot."""
        ...

    def close(self) -> None:
        """Free the model, its threads and its socket. Harmless before ``load`` and twice."""
        ...


class Voice(Protocol):
    """Words to sound."""

    @property
    def language(self) -> str:
        """English name of the language that it speaks, or empty; known after ``load``."""
        ...

    @property
    def name(self) -> str:
        """The voice's name for people; known after ``load``."""
        ...

    @property
    def sample_rate(self) -> int:
        """Samples per second of the sound; known after ``load``."""
        ...

    def load(self) -> None:
        """Bring the model up and run it once."""
        ...

    def close(self) -> None:
        """Free the model. Harmless before ``load`` and twice."""
        ...

    def speak(
        self, text: str, speed: float, stop: StopSignal, pitch: float = 0.0
    ) -> Iterator[Samples]:
        """The sound of one sentence, ``pitch`` semitones above the voice's own.

        Yields arrays of shape ``(N,)``, float32 mono, full scale at ±1.
        """
        ...
