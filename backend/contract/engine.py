"""The engine protocol: what every engine promises, and what the app asks of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from backend.contract.events import Event
from backend.contract.media import AudioClip
from backend.contract.turn import Turn
from backend.contract.voice import VoiceControls

Progress = Callable[[float, str], None]
"""Called with the share done, 0 to 1, and a few words on what is being loaded."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an engine can do; the page shows a control only where it works.

    Attributes:
        name: The engine's name for people.
        summary: One or two sentences on what it is and cannot do.
        sees_pictures: True when a model sees the frames; false when it gets scene notes.
        languages: ISO 639-1 codes that the recogniser understands; may include ``auto``.
        voice: What can be chosen about the voice.
        sample_rate: Rate of the speech it makes, in hertz.
        max_concurrent_turns: Turns it works on at a time; further ones wait.
        hears_ahead: Whether ``Engine.hear`` gives words. Where it does not, a call hands over what
            was said with no words, and learns them from the turn's ``Transcript``.
        recites: Whether it takes a turn with a ``script``.
        answers: Whether it takes any other turn.
        tasks: Names of the kinds of ``contract.tasks.TASKS`` that it takes turns for.
        no_other_tasks: Why it takes no others, in plain words; empty where it takes all.
    """

    name: str
    summary: str
    sees_pictures: bool
    languages: tuple[str, ...]
    voice: VoiceControls
    sample_rate: int
    max_concurrent_turns: int = 1
    hears_ahead: bool = True
    recites: bool = False
    answers: bool = True
    tasks: tuple[str, ...] = ()
    no_other_tasks: str = "This engine has no tasks beside the conversation."


class Engine(Protocol):
    """Made, used and closed on one asyncio loop, the engine thread's.

    ``run`` raises ``TurnRefused`` before any model work for a turn it cannot take, and yields
    every event but ``TurnEnd``, which the runtime adds. It must stop soon after its task is
    cancelled. Any other exception fails that turn alone; the runtime then asks ``health``.
    """

    @property
    def capabilities(self) -> Capabilities:
        """What this engine can do; known after ``load``."""
        ...

    async def load(self, progress: Progress) -> None:
        """Bring the models up and warm them. Raises any exception with a plain message."""
        ...

    def run(self, turn: Turn) -> AsyncIterator[Event]:
        """Work on one turn; an async generator."""
        ...

    async def hear(self, clip: AudioClip, language: str) -> str:
        """The words of a clip, outside any turn; empty when nobody speaks.

        A call asks while the person still speaks, where ``Capabilities.hears_ahead`` says that it
        may. It must stop soon after its task is cancelled.
        """
        ...

    async def foresee(self, turn: Turn) -> None:
        """Prepare for a turn that is about to come, such as by reading its prompt.

        A call asks while the person still speaks: ``turn`` holds the words so far, of which the
        last may change. It makes nothing that is seen or heard, and must stop soon after its task
        is cancelled.
        """
        ...

    async def health(self) -> None:
        """Return when the engine can serve; raise ``EngineFailed`` when it cannot."""
        ...

    async def close(self) -> None:
        """Free everything: no thread, process or file is left. May be called at any time."""
        ...


class EngineState(StrEnum):
    """Where the engine stands."""

    LOADING = "loading"
    READY = "ready"
    FAILED = "failed"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """The engine's state for people.

    Attributes:
        state: Where it stands.
        message: What is being loaded, or why it failed.
        progress: Share of the loading done, 0 to 1.
        capabilities: Known once it has been ready; not known while another pipeline is loaded.
        pipeline: Name of the pipeline that runs or is being loaded; empty where there is but one.
        pipelines: Names of all that can be loaded in its place, this one among them.
    """

    state: EngineState
    message: str = ""
    progress: float = 0.0
    capabilities: Capabilities | None = None
    pipeline: str = ""
    pipelines: tuple[str, ...] = ()


class TurnStream(Protocol):
    """A turn under way, as its caller sees it; usable from any one asyncio loop."""

    @property
    def turn(self) -> Turn:
        """The turn that was submitted."""
        ...

    def __aiter__(self) -> AsyncIterator[Event]:
        """All events of the turn; the last is its one ``TurnEnd``."""
        ...

    def cancel(self) -> None:
        """Stop the work; only the ``TurnEnd`` still comes. Harmless when it has ended."""
        ...
