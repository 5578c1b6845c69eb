"""The spoken side of a reply: sentences go in while it is written, sound comes out."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing

from backend.contract.events import SpeechChunk, Stage
from backend.contract.turn import Turn
from backend.conversation.speech_text import speakable
from backend.engines.embedded.crew import Crew
from backend.engines.embedded.stopwatch import Stopwatch
from backend.engines.embedded.telling import Telling

_log = logging.getLogger(__name__)


class Speaking:
    """Speaks what one turn says."""

    def __init__(self, turn: Turn, crew: Crew, tell: Telling) -> None:
        """``tell`` takes the sound, and a notice when there is none."""
        self._turn = turn
        self._crew = crew
        self._tell = tell

    async def reply(self, sentences: asyncio.Queue[str | None]) -> None:
        """Speak all sentences up to the none that ends them; a failure costs only the sound."""
        try:
            await self.recite(sentences)
        except Exception:
            _log.exception("Speech of turn %s failed", self._turn.id)
            self._tell.notice("speech_failed", "The reply could not be spoken.")

    async def recite(self, sentences: asyncio.Queue[str | None]) -> None:
        """Speak all sentences up to the none that ends them.

        Raises:
            Exception: Whatever the voice raises.
        """
        watch: Stopwatch | None = None
        try:
            while (sentence := await sentences.get()) is not None:
                if self._turn.settings.spoken and (words := speakable(sentence)):
                    watch = watch or self._tell.start(Stage.SPEAK)
                    await self._say(words, watch)
        finally:
            if watch is not None:
                self._tell.event(watch.timing())

    async def _say(self, words: str, watch: Stopwatch) -> None:
        voice, chosen = self._crew.voice, self._turn.settings
        speed, pitch = chosen.voice_speed, chosen.voice_pitch
        stream = self._crew.speak.stream(
            lambda stop: watch.timed(voice.speak(words, speed, stop, pitch))
        )
        async with aclosing(stream):
            async for pcm in stream:
                watch.mark()
                rate = voice.sample_rate
                # Small pieces: the first is heard while the others are still on their way.
                for start in range(0, len(pcm), rate // 4):
                    piece = pcm[start : start + rate // 4]
                    chunk = SpeechChunk(turn_id=self._turn.id, pcm=piece, sample_rate=rate)
                    self._tell.event(chunk)
