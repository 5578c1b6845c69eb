"""The spoken side of a reply: sentence after sentence, while the rest is being written.

One sentence at a time: the talker is several times faster than speech, so the next one is ready
before the last has been heard, and the first sentences of others do not wait for the later ones
of this reply.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing

from backend.contract.events import Notice, ReplyText, SpeechChunk, Stage, StageStarted
from backend.contract.turn import Turn
from backend.conversation.sentences import MAX_PIECE_CHARS, cut_all
from backend.conversation.speech_text import speakable
from backend.engines.events import Emit
from backend.engines.failures import StageFailed, plainly
from backend.engines.omni.outputs import StageClock, StageOutput
from backend.engines.omni.speech_pipeline import SpeechPipeline

_log = logging.getLogger(__name__)

_RECITAL_FAILED = "The voice failed while it spoke this text. Try again."


async def recite(turn: Turn, pipeline: SpeechPipeline, emit: Emit) -> None:
    """Speak the turn's script as it is, piece by piece.

    Raises:
        StageFailed: A piece could not be spoken; the rest is not, for a text with a hole in it
            is another text.
    """
    speech = SpokenReply(turn, pipeline, emit)
    for piece in cut_all(turn.script):
        emit(ReplyText(turn_id=turn.id, delta=piece))
        speech.say(piece)
    speech.end()
    with plainly(_RECITAL_FAILED):
        await speech.run()


class SpokenReply:
    """Speaks one turn's reply; a failure costs the sound of a sentence and not the turn.

    Of a script nothing is left out: there, a failure is raised.
    """

    def __init__(self, turn: Turn, pipeline: SpeechPipeline, emit: Emit) -> None:
        """Take the turn whose voice speaks; nothing starts yet."""
        self._turn = turn
        self._pipeline = pipeline
        self._emit = emit
        self._sentences: asyncio.Queue[str | None] = asyncio.Queue()
        talker = pipeline.talker
        self._clocks = StageClock(Stage.SPEAK, talker), StageClock(Stage.SOUND, talker + 1)
        self.failed = False

    def say(self, sentence: str) -> None:
        """Take the next sentence as it was written."""
        words = speakable(sentence)
        if not words or not self._turn.settings.spoken:
            return
        # A block of code comes in one piece, and may be longer than the talker can speak at once.
        for piece in [words] if len(words) <= MAX_PIECE_CHARS else cut_all(words):
            if any(character.isalnum() for character in piece):
                self._sentences.put_nowait(piece.strip())

    def end(self) -> None:
        """There are no more sentences."""
        self._sentences.put_nowait(None)

    async def run(self) -> None:
        """Speak all sentences up to the end."""
        # The clip of a voice is made into a file: milliseconds in which others need the loop.
        voice = await asyncio.to_thread(self._pipeline.voice, self._turn)
        number = 0
        while (words := await self._sentences.get()) is not None:
            if not number:
                self._emit(StageStarted(turn_id=self._turn.id, stage=Stage.SPEAK))
            number += 1
            try:
                await self._speak(words, voice, f"{self._turn.id}-{number}")
            except Exception:
                if self._turn.script:
                    raise
                _log.exception("Speech of turn %s failed", self._turn.id)
                self._tell_failure()
        for clock in self._clocks:
            if timing := clock.timing(self._turn.id):
                self._emit(timing)

    async def _speak(self, words: str, voice: dict[str, object], request_id: str) -> None:
        last, settings, sounded = StageOutput(), self._turn.settings, False
        async with aclosing(self._pipeline.speak(words, voice, request_id, settings)) as outputs:
            async for last in outputs:
                if last.sample_rate and len(last.pcm):
                    sounded = True
                    self._emit(
                        SpeechChunk(
                            turn_id=self._turn.id, pcm=last.pcm, sample_rate=last.sample_rate
                        )
                    )
        if not sounded:
            raise StageFailed("The talker ended before there was any sound.")
        for clock in self._clocks:
            clock.add(last)

    def _tell_failure(self) -> None:
        if not self.failed:
            text = "A part of the reply could not be spoken."
            self._emit(Notice(turn_id=self._turn.id, code="speech_failed", text=text))
        self.failed = True
