"""The engine of small CPU models that pip installs: always works, also offline."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Self

from backend.contract.engine import Capabilities, Progress
from backend.contract.errors import EngineFailed, Field, TurnRefused
from backend.contract.events import Event
from backend.contract.turn import Turn, TurnSettings
from backend.engines.embedded import models
from backend.engines.embedded.chat import LlamaChat
from backend.engines.embedded.crew import Crew
from backend.engines.embedded.door import check_turn
from backend.engines.embedded.eyes import SceneEyes
from backend.engines.embedded.prompt import fitting_messages, instructions, user_message
from backend.engines.embedded.recognizer import WhisperRecognizer
from backend.engines.embedded.stages import ChatModel, Eyes, Message, Recognizer, StopSignal, Voice
from backend.engines.embedded.turn_work import TurnWork
from backend.engines.embedded.voice import PiperSpeaker
from backend.settings import Settings

_SUMMARY = (
    "Small models on the CPU, without a network. It hears and speaks, but its answers are simple"
    " and often wrong."
)
_NOTES_SUMMARY = " It does not see pictures: it gets notes on their text, colours and motion."


class EmbeddedEngine:
    """Hears, sees, thinks and speaks with four stages on the CPU, one turn at a time."""

    def __init__(
        self, *, recognizer: Recognizer, eyes: Eyes, chat: ChatModel, voice: Voice
    ) -> None:
        """Take the stages; ``load`` brings their models up."""
        self._crew = Crew(recognizer=recognizer, eyes=eyes, chat=chat, voice=voice)
        self._capabilities: Capabilities | None = None
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
            ModelMissing: A model is neither here nor can it be downloaded.
        """
        crew, done = self._crew, 0
        progress(0.0, "Loading the models")

        async def bring_up(load: asyncio.Future[None], words: str) -> None:
            nonlocal done
            await load
            done += 1
            progress(done / 5, words)

        await asyncio.gather(
            bring_up(asyncio.ensure_future(crew.think.call(crew.chat.load)), "Chat is ready"),
            bring_up(asyncio.ensure_future(crew.speak.call(crew.voice.load)), "Voice is ready"),
            bring_up(
                asyncio.ensure_future(crew.hear.call(crew.recognizer.load)), "Hearing is ready"
            ),
            bring_up(asyncio.ensure_future(crew.see.call(crew.eyes.load)), "Sight is ready"),
        )
        await crew.think.call(self._warm_chat)
        self._capabilities = self._describe()
        progress(1.0, "Ready")

    async def run(self, turn: Turn) -> AsyncIterator[Event]:
        """Work on one turn.

        Yields:
            Every event but ``TurnEnd``. ``hear`` starts with sound alone, ``speak`` with the
            first sentence that can be spoken.

        Raises:
            TurnRefused: A setting or an input is out of bounds, or the text is too long.
        """
        if self._closed:
            raise EngineFailed("The engine is closed.")
        check_turn(turn, self.capabilities, self._crew.chat.context)
        fits = self._room_beside(turn.settings.max_reply_tokens)
        await self._crew.think.call(
            partial(_refuse_long_text, turn, self._crew.voice.language, fits)
        )
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        work = asyncio.create_task(TurnWork(turn, self._crew, fits, events.put_nowait).run())
        work.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
            await work
        finally:
            work.cancel()
            await asyncio.wait({work})

    async def health(self) -> None:
        """Return when the engine can serve.

        Raises:
            EngineFailed: It is closed, not loaded, or the chat model does not answer.
        """
        if self._closed or self._capabilities is None:
            raise EngineFailed("The engine is not running.")
        try:
            await self._crew.watch.call(self._crew.chat.check)
        except Exception as error:
            raise EngineFailed(str(error)) from error

    async def close(self) -> None:
        """Stop all work and free the models and threads. Harmless a second time."""
        if self._closed:
            return
        self._closed = True
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedded-close") as closer:
            await asyncio.wrap_future(closer.submit(self._crew.close))

    def _room_beside(self, reply_tokens: int) -> Callable[[Sequence[Message]], bool]:
        chat = self._crew.chat
        return lambda messages: chat.fits(messages, chat.context - reply_tokens)

    def _warm_chat(self) -> None:
        """Read the default system prompt once, so that llama.cpp keeps it in its cache."""
        always = self._room_beside(1)
        hello = user_message("Hello")
        system = instructions(TurnSettings().system_prompt, self._crew.voice.language)
        messages = fitting_messages(system, (), hello, always) or [hello]
        for _ in self._crew.chat.reply(messages, 1, StopSignal()):
            pass

    def _describe(self) -> Capabilities:
        crew = self._crew
        sees = crew.chat.sees_pictures
        return Capabilities(
            name="Embedded",
            summary=_SUMMARY if sees else _SUMMARY + _NOTES_SUMMARY,
            sees_pictures=sees,
            languages=crew.recognizer.languages,
            voices=(crew.voice.name,),
            sample_rate=crew.voice.sample_rate,
        )


def _refuse_long_text(turn: Turn, language: str, fits: Callable[[Sequence[Message]], bool]) -> None:
    system = instructions(turn.settings.system_prompt, language)
    if fitting_messages(system, (), user_message(turn.text), fits) is not None:
        return
    if fitting_messages("", (), user_message(turn.text), fits) is None:
        text = "This text is too long for the chat model. Shorten it."
        raise TurnRefused("text_too_long", text, Field.TEXT)
    text = "The system prompt and the text together are too long for the chat model."
    raise TurnRefused("system_prompt_too_long", text, Field.SETTINGS)
