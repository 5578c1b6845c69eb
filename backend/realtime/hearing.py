"""What a person says, recognised while they still speak."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from backend.contract.errors import EngineFailed
from backend.contract.media import AudioClip, VideoFrames
from backend.contract.turn import Turn
from backend.conversation.session import Session
from backend.realtime.patience import FINISHED_S, UNKNOWN_S, patience_s
from backend.realtime.protocol import Message
from backend.realtime.turn_detector import TurnDetector
from backend.realtime.voice_activity import SAMPLE_RATE

log = logging.getLogger(__name__)

Hear = Callable[[AudioClip, str], Awaitable[str | None]]
Foresee = Callable[[Turn], Coroutine[Any, Any, None]]
See = Callable[[], Awaitable[VideoFrames | None]]

PARTIAL_EVERY_S = 1.0
"""Seconds of new sound after which the words so far are looked for again."""


class Hearing:
    """Looks for the words of one utterance after another, the newest look in place of the last."""

    def __init__(
        self,
        session: Session,
        detector: TurnDetector,
        post: Callable[[Message], None],
        hear: Hear,
        foresee: Foresee,
        see: See,
    ) -> None:
        """Hear for ``session`` what ``detector`` keeps.

        Args:
            session: Whose turns are made.
            detector: Has the utterance, and is told how patient to be with it.
            post: Takes the words for the page.
            hear: Recognises the words of a clip in a language; may raise anything. None where the
                engine recognises speech only to answer it.
            foresee: Told what will probably be asked; may raise anything.
            see: Gives what the camera shows.
        """
        self._session = session
        self._detector = detector
        self._post = post
        self._hear = hear
        self._foresee = foresee
        self._see = see
        self._task: asyncio.Task[str | None] | None = None
        self._foreseeing: asyncio.Task[None] | None = None
        self._heard_samples = 0

    def begin(self) -> None:
        """A new utterance has begun."""
        self._heard_samples = 0
        self._read_ahead("")

    def look(self) -> None:
        """Look for the words so far, in place of a look that is under way."""
        self.stop()
        said = self._detector.utterance
        self._heard_samples = len(said)
        self._task = asyncio.create_task(self._words(AudioClip(said, SAMPLE_RATE)))
        self._task.add_done_callback(_look_at)

    def look_again(self) -> None:
        """Look every second while the person speaks."""
        idle = self._task is None or self._task.done()
        new = self._detector.said_samples - self._heard_samples
        if idle and not self._detector.paused and new >= PARTIAL_EVERY_S * SAMPLE_RATE:
            self.look()

    async def words(self) -> str | None:
        """The words of the whole utterance; none where the turn itself has to find them."""
        # Without a pause it became too long, and was cut while the person spoke on.
        if self._task is None or not self._detector.paused:
            self.look()
        task, self._task = self._task, None
        self._detector.reset()
        assert task is not None  # noqa: S101 - made above
        try:
            return await task
        except Exception as error:  # the turn itself says what is wrong with the engine
            if not isinstance(error, EngineFailed):
                log.exception("an utterance could not be recognised ahead of its turn")
            return None

    def stop(self) -> None:
        """Look no further."""
        for task in (self._task, self._foreseeing):
            if task is not None:
                task.cancel()
        self._task = self._foreseeing = None

    async def _words(self, clip: AudioClip) -> str | None:
        words = await self._hear(clip, self._session.settings.language)
        if words is None:
            return None
        self._post({"type": "omni.hearing", "transcript": words})
        self._detector.patience_s = patience_s(words) if self._detector.paused else UNKNOWN_S
        # What is finished will be asked before it could be read ahead.
        finished = self._detector.patience_s == FINISHED_S
        if words and not finished:
            self._read_ahead(words)
        return words

    def _read_ahead(self, words: str) -> None:
        """Have the engine read what will be asked, in a task of its own that no turn waits for."""
        if not self._session.under_way:
            self._foreseeing = asyncio.create_task(self._foresee_turn(words))
            self._foreseeing.add_done_callback(_look_at)

    async def _foresee_turn(self, words: str) -> None:
        await self._foresee(self._session.next_turn(words, await self._see()))


def _look_at(task: asyncio.Task[Any]) -> None:
    """Keep asyncio from complaining of a failure that nobody waits for."""
    if not task.cancelled():
        task.exception()
