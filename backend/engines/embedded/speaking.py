"""The spoken side of a reply: sentences go in while it is written, sound comes out."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing

from backend.contract.events import Captions, Cue, SpeechChunk, Stage
from backend.contract.turn import Turn
from backend.conversation.speech_text import speakable
from backend.engines.embedded.crew import Crew
from backend.engines.embedded.stopwatch import Stopwatch
from backend.engines.embedded.telling import Telling

_log = logging.getLogger(__name__)


class Speaking:
    """Speaks what one turn says; a task is told captions too."""

    def __init__(self, turn: Turn, crew: Crew, tell: Telling) -> None:
        """``tell`` takes the sound, and a notice when there is none."""
        self._turn = turn
        self._crew = crew
        self._tell = tell
        self._cues: list[Cue] = []

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
                    seconds = await self._say(words, watch)
                    self._caption(sentence.strip(), seconds)
        finally:
            if watch is not None:
                self._tell.event(watch.timing())

    async def _say(self, words: str, watch: Stopwatch) -> float:
        voice, chosen = self._crew.voice, self._turn.settings
        speed, pitch, count = chosen.voice_speed, chosen.voice_pitch, 0
        stream = self._crew.speak.stream(
            lambda stop: watch.timed(voice.speak(words, speed, stop, pitch))
        )
        async with aclosing(stream):
            async for pcm in stream:
                watch.mark()
                rate = voice.sample_rate
                count += len(pcm)
                # Small pieces: the first is heard while the others are still on their way.
                for start in range(0, len(pcm), rate // 4):
                    piece = pcm[start : start + rate // 4]
                    chunk = SpeechChunk(turn_id=self._turn.id, pcm=piece, sample_rate=rate)
                    self._tell.event(chunk)
        return count / voice.sample_rate

    def _caption(self, sentence: str, seconds: float) -> None:
        if self._turn.task is None:
            return
        start_s = self._cues[-1].end_s if self._cues else 0.0
        self._cues.append(Cue(start_s, start_s + seconds, sentence))
        self._tell.event(Captions(turn_id=self._turn.id, cues=tuple(self._cues)))
