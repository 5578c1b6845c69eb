"""The four stages with a thread each."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence

from backend.contract.errors import EngineFailed
from backend.engines.embedded.sights import Sights
from backend.engines.embedded.stages import ChatModel, Eyes, Recognizer, Voice
from backend.engines.embedded.threads import StageThread

_log = logging.getLogger(__name__)

CLOSE_WITHIN_S = 8.0
"""Longest wait for the threads of a closed engine, in seconds; the runtime gives up after 10."""

_LOOK_EVERY_S = 0.01
# Together less than the runtime waits for the answer, which is 5 s.
_ANSWER_WITHIN_S, _CHECK_WITHIN_S = 1.0, 3.5


class Crew:
    """The stages of one engine, and the threads that they work in.

    Attributes:
        recognizer: Works in the thread ``hear``.
        eyes: Work in the thread ``see``.
        sights: The eyes, with what they saw last; in the same thread.
        chat: Works in the thread ``think``; its ``check`` in ``watch``.
        voice: Works in the thread ``speak``.
    """

    def __init__(
        self, *, recognizer: Recognizer, eyes: Eyes, chat: ChatModel, voice: Voice
    ) -> None:
        """Start the threads; the models are not loaded yet."""
        self.recognizer = recognizer
        self.eyes = eyes
        self.sights = Sights(eyes)
        self.chat = chat
        self.voice = voice
        self.hear = StageThread("hear")
        self.see = StageThread("see")
        self.think = StageThread("think")
        self.speak = StageThread("speak")
        self.watch = StageThread("watch")

    @property
    def threads(self) -> tuple[StageThread, ...]:
        """All threads, the watch last."""
        return self.hear, self.see, self.think, self.speak, self.watch

    async def check(self, *, at_work: bool) -> None:
        """Return when every thread and the chat model answer.

        Args:
            at_work: Whether a turn is under way; its threads are not asked then.

        Raises:
            EngineFailed: One does not.
        """
        for thread in self.threads:
            if not (at_work and thread.busy) and not await thread.answers(_ANSWER_WITHIN_S):
                raise EngineFailed(f"The stage '{thread.name}' is stuck.")
        alive = asyncio.wrap_future(self.watch.submit(self.chat.check))
        await asyncio.wait({alive}, timeout=_CHECK_WITHIN_S)
        if alive.cancel() or alive.cancelled():
            raise EngineFailed("The chat model does not answer.")
        if error := alive.exception():
            raise EngineFailed("The chat model does not answer.") from error

    async def close(self, within_s: float = CLOSE_WITHIN_S) -> None:
        """Stop all work, end the threads and free the models.

        Each model is freed by its own thread, so never under a call that still uses it. A thread
        that does not end in time is abandoned, and its model with it: it frees the model if it
        ever comes back, and does not keep the process from exiting.
        """
        self.hear.close(self.recognizer.close)
        self.see.close(self.eyes.close)
        self.think.close(self.chat.close)
        self.speak.close(self.voice.close)
        self.watch.close()
        await _ended(self.threads, time.monotonic() + within_s)
        for thread in self.threads:
            if thread.alive:
                _log.error("The thread %s did not end in %g s: abandoned", thread.name, within_s)
                thread.abandon()


async def _ended(threads: Sequence[StageThread], deadline: float) -> None:
    """Wait for threads to end; looked at again and again, as their very end tells nobody."""
    while any(thread.alive for thread in threads):
        if time.monotonic() >= deadline:
            return
        await asyncio.sleep(_LOOK_EVERY_S)
