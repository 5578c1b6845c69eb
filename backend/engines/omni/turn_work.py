"""One turn through the pipeline: hear while the pictures are read, think, speak while thinking."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing

from backend.contract.events import (
    Notice,
    ReplyText,
    Silence,
    Stage,
    StageStarted,
    Transcript,
)
from backend.contract.media import AudioClip
from backend.contract.turn import Turn
from backend.conversation.sentences import SentenceCutter
from backend.conversation.silence import SilenceGate
from backend.engines.ending import stopped
from backend.engines.events import Emit
from backend.engines.failures import plainly
from backend.engines.omni.outputs import StageClock, StageOutput
from backend.engines.omni.pipeline import Pipeline
from backend.engines.omni.prompts import heard_words
from backend.engines.omni.reply_filter import ReplyFilter
from backend.engines.omni.speech import SpokenReply
from backend.media.pauses import is_quiet, pieces

_log = logging.getLogger(__name__)

_HEAR_FAILED = "The recording could not be turned into words. Try again, or type the question."
_THINK_FAILED = "The model failed while it worked on this. Try again."


class TurnWork:
    """Works on one turn and tells of it through ``emit``."""

    def __init__(self, turn: Turn, pipeline: Pipeline, emit: Emit) -> None:
        """Prepare the work; ``run`` does it."""
        self._turn = turn
        self._pipeline = pipeline
        self._emit = emit
        self.speech_failed = False

    async def run(self) -> None:
        """Do all the work. Cancelling it aborts every request of the turn in the engine."""
        turn = self._turn
        looking = asyncio.create_task(self._look())
        try:
            with plainly(_HEAR_FAILED):
                heard = await self._hear()
            question = "\n".join(words for words in (turn.text.strip(), heard) if words)
            if not question and turn.frames is None:
                self._emit(Silence(turn_id=turn.id, reason="No speech was heard."))
                return
            if not question and turn.audio is not None:
                text = "No speech was heard, so only the picture is answered."
                self._emit(Notice(turn_id=turn.id, code="no_speech", text=text))
            with plainly(_THINK_FAILED):
                await self._answer(question)
        finally:
            await stopped(looking)

    async def _look(self) -> None:
        """Read the pictures while the question is heard; without sound nothing is gained."""
        if self._turn.frames is None or self._turn.audio is None:
            return
        try:
            await self._pipeline.look(self._turn, f"{self._turn.id}-look")
        except Exception:
            # The answer reads them again, and says so when they cannot be read.
            _log.exception("The look ahead of turn %s failed", self._turn.id)

    async def _hear(self) -> str:
        clip = self._turn.audio
        if self._turn.heard:
            self._emit(Transcript(turn_id=self._turn.id, text=self._turn.heard, final=True))
            return self._turn.heard
        if clip is None or is_quiet(clip):
            return ""
        self._emit(StageStarted(turn_id=self._turn.id, stage=Stage.HEAR))
        clock = StageClock(Stage.HEAR, 0)
        parts = pieces(clip)
        texts = [""] * len(parts)
        async with asyncio.TaskGroup() as group:
            for index, part in enumerate(parts):
                group.create_task(self._hear_piece(index, part, texts, clock))
        words = _joined(texts)
        if words:
            self._emit(Transcript(turn_id=self._turn.id, text=words, final=True))
        if timing := clock.timing(self._turn.id):
            self._emit(timing)
        return words

    async def _hear_piece(
        self, index: int, part: AudioClip, texts: list[str], clock: StageClock
    ) -> None:
        language, written, last = self._turn.settings.language, "", StageOutput()
        stream = self._pipeline.hear(part, language, f"{self._turn.id}-hear-{index}")
        async with aclosing(stream):
            async for last in stream:
                written += last.text
                if last.text and (words := heard_words(written)):
                    texts[index] = words
                    text = _joined(texts)
                    self._emit(Transcript(turn_id=self._turn.id, text=text, final=False))
        clock.add(last)

    async def _answer(self, question: str) -> None:
        self._emit(StageStarted(turn_id=self._turn.id, stage=Stage.THINK))
        prompt = await self._pipeline.prompt_for(self._turn, question)
        speech = SpokenReply(self._turn, self._pipeline, self._emit)
        speaking = asyncio.create_task(speech.run())
        try:
            await self._think(prompt, speech)
            speech.end()
            await speaking
        finally:
            await stopped(speaking)
        self.speech_failed = speech.failed

    async def _think(self, prompt: dict[str, object], speech: SpokenReply) -> None:
        clock, last = StageClock(Stage.THINK, 1), StageOutput()
        words, gate, cutter = ReplyFilter(), SilenceGate(), SentenceCutter()
        longest = self._turn.settings.max_reply_tokens
        stream = self._pipeline.think(prompt, longest, f"{self._turn.id}-think")
        async with aclosing(stream):
            async for last in stream:
                self._write(gate.feed(words.feed(last.text)), cutter, speech)
        self._write(gate.feed(words.finish()) + gate.finish(), cutter, speech)
        for rest in cutter.finish():
            speech.say(rest)
        clock.add(last)
        if timing := clock.timing(self._turn.id):
            self._emit(timing)
        if gate.silent:
            reason = "The assistant chose not to reply."
            self._emit(Silence(turn_id=self._turn.id, reason=reason))

    def _write(self, text: str, cutter: SentenceCutter, speech: SpokenReply) -> None:
        if not text:
            return
        self._emit(ReplyText(turn_id=self._turn.id, delta=text))
        for sentence in cutter.feed(text):
            speech.say(sentence)


def _joined(texts: list[str]) -> str:
    return " ".join(text for text in texts if text)
