"""The four stages with a thread each."""

from __future__ import annotations

from backend.engines.embedded.stages import ChatModel, Eyes, Recognizer, Voice
from backend.engines.embedded.threads import StageThread


class Crew:
    """The stages of one engine, and the threads that they work in.

    Attributes:
        recognizer: Works in the thread ``hear``.
        eyes: Works in the thread ``see``.
        chat: Works in the thread ``think``; its ``check`` in ``watch``.
        voice: Works in the thread ``speak``.
    """

    def __init__(
        self, *, recognizer: Recognizer, eyes: Eyes, chat: ChatModel, voice: Voice
    ) -> None:
        """Start the threads; the models are not loaded yet."""
        self.recognizer = recognizer
        self.eyes = eyes
        self.chat = chat
        self.voice = voice
        self.hear = StageThread("hear")
        self.see = StageThread("see")
        self.think = StageThread("think")
        self.speak = StageThread("speak")
        self.watch = StageThread("watch")

    def close(self) -> None:
        """Stop all work, end the threads and free the models. Blocks until done."""
        for thread in (self.hear, self.see, self.think, self.speak, self.watch):
            thread.close()
        for stage in (self.recognizer, self.eyes, self.chat, self.voice):
            stage.close()
