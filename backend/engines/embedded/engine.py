"""The engine of small CPU models that pip installs: always works, also offline."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, contextmanager
from functools import partial
from typing import Self

from backend.contract.engine import Capabilities, Progress
from backend.contract.errors import EngineFailed
from backend.contract.events import Event
from backend.contract.media import AudioClip
from backend.contract.turn import Turn
from backend.engines.embedded import models
from backend.engines.embedded.abilities import abilities_of
from backend.engines.embedded.chat import LlamaChat
from backend.engines.embedded.crew import Crew
from backend.engines.embedded.door import check_length, check_turn
from backend.engines.embedded.eyes import SceneEyes
from backend.engines.embedded.loading import load_models
from backend.engines.embedded.prompt import Fits
from backend.engines.embedded.recognizer import WhisperRecognizer
from backend.engines.embedded.stages import ChatModel, Eyes, Recognizer, Voice, no_report
from backend.engines.embedded.turn_work import TurnWork
from backend.engines.embedded.voice import PiperSpeaker
from backend.engines.events import Emit, events_of
from backend.engines.failures import plainly
from backend.engines.task_turns import TaskWork, as_turn
from backend.settings import Settings


class EmbeddedEngine:
    """Hears, sees, thinks and speaks with four stages on the CPU, one turn at a time."""

    def __init__(
        self, *, recognizer: Recognizer, eyes: Eyes, chat: ChatModel, voice: Voice
    ) -> None:
        """Take the stages; ``load`` brings their models up."""
        self._crew = Crew(recognizer=recognizer, eyes=eyes, chat=chat, voice=voice)
        self._capabilities: Capabilities | None = None
        self._turns = 0
        self._asides = 0
        self._closed = False

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """The engine with the models that the settings name; nothing is loaded yet."""
        threads = settings.threads or os.cpu_count() or 1
        return cls(
            recognizer=WhisperRecognizer(
                partial(models.find_recognizer, settings.recognizer), threads
            ),
            eyes=SceneEyes(threads),
            chat=LlamaChat(
                partial(models.find_chat_model, settings.chat_model),
                partial(models.find_projector, settings.chat_projector),
                settings.chat_context,
                threads,
            ),
            voice=PiperSpeaker(partial(models.find_voice, settings.piper_voice)),
        )

    @property
    def capabilities(self) -> Capabilities:
        """What this engine can do.

        Raises:
            EngineFailed: It is not loaded.
        """
        if self._capabilities is None:
            raise EngineFailed("The engine is not loaded.")
        return self._capabilities

    async def load(self, progress: Progress) -> None:
        """Bring the models up at the same time, and warm the chat with the default prompt.

        Raises:
            StageFailed: A model is missing or cannot be loaded, in plain words.
        """
        await load_models(self._crew, progress)
        self._capabilities = abilities_of(self._crew)
        progress(1.0, "Ready")

    async def run(self, turn: Turn) -> AsyncIterator[Event]:
        """Work on one turn; a task is made an ordinary one.

        Yields:
            Every event but ``TurnEnd``. ``hear`` starts with sound alone, ``speak`` with the
            first sentence that can be spoken.

        Raises:
            TurnRefused: A setting or an input is out of bounds, or the text is too long.
            StageFailed: The recogniser or the chat model failed, in plain words.
            EngineFailed: The engine is closed.
        """
        if self._closed:
            raise EngineFailed("The engine is closed.")
        if turn.task is not None:
            turn = as_turn(turn, turn.task, self.capabilities)
        check_turn(turn, self.capabilities, self._crew.chat.context)
        self._turns += 1
        try:
            fits = self._room_beside(turn.settings.max_reply_tokens)
            with plainly("The chat model failed while it measured this text. Try again."):
                language = self._crew.voice.language
                await self._crew.think.call(partial(check_length, turn, language, fits))
            async with aclosing(events_of(partial(self._work, turn, fits))) as events:
                async for event in events:
                    yield event
        finally:
            self._turns -= 1

    async def hear(self, clip: AudioClip, language: str) -> str:
        """The words of a clip, outside any turn; empty when nobody speaks.

        Raises:
            EngineFailed: The engine is closed.
        """
        if self._closed:
            raise EngineFailed("The engine is closed.")
        transcribe = self._crew.recognizer.transcribe
        stream = self._crew.hear.stream(lambda stop: transcribe(clip, language, stop, no_report))
        with self._at_work():
            async with aclosing(stream):
                return " ".join([segment async for segment in stream])

    async def foresee(self, turn: Turn) -> None:
        """Have the chat model read the prompt so far; nothing where it is busy with a turn.

        Raises:
            StageFailed: The chat model failed.
            EngineFailed: The engine is closed.
        """
        if self._turns == 0:
            fits = self._room_beside(turn.settings.max_reply_tokens)
            with self._at_work():
                await TurnWork(turn, self._crew, fits, emit=lambda _: None).read_ahead()

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        self._asides += 1
        try:
            yield
        finally:
            self._asides -= 1

    async def health(self) -> None:
        """Return when the engine can serve.

        A thread is allowed to be at work while there is a turn, or something is heard or read
        ahead; when there is nothing to do, it must answer.

        Raises:
            EngineFailed: It is closed or not loaded, a thread is stuck in its model, or the chat
                model does not answer.
        """
        if self._closed or self._capabilities is None:
            raise EngineFailed("The engine is not running.")
        await self._crew.check(at_work=self._turns + self._asides > 0)

    async def close(self) -> None:
        """Stop all work and free the models and threads. Harmless a second time.

        Takes a bounded time: a thread that is stuck in its model is left to itself.
        """
        if self._closed:
            return
        self._closed = True
        await self._crew.close()

    async def _work(self, turn: Turn, fits: Fits, emit: Emit) -> None:
        async def answer(turn: Turn) -> None:
            await TurnWork(turn, self._crew, fits, emit).run()

        if turn.task is None:
            await answer(turn)
        else:
            await TaskWork(turn, turn.task, self.hear, answer, emit).run()

    def _room_beside(self, reply_tokens: int) -> Fits:
        chat = self._crew.chat
        return lambda messages: chat.fits(messages, chat.context - reply_tokens)
