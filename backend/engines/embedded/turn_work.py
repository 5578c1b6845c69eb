"""One turn through the stages: hear and see at once, then think, and speak while thinking."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing
from functools import partial

import numpy as np
from numpy.typing import NDArray

from backend.contract.events import (
    Event,
    Notice,
    ReplyText,
    SceneNotes,
    Silence,
    SpeechChunk,
    Stage,
    StageStarted,
    Transcript,
)
from backend.contract.turn import Turn
from backend.conversation.silence import SilenceGate
from backend.conversation.speech_text import speakable
from backend.engines.embedded.crew import Crew
from backend.engines.embedded.eyes import telling_frames
from backend.engines.embedded.prompt import (
    Fits,
    fitting_messages,
    instructions,
    shortened_messages,
    user_message,
)
from backend.engines.embedded.sentences import SentenceCutter
from backend.engines.embedded.stages import Message
from backend.engines.embedded.stopwatch import Stopwatch

_log = logging.getLogger(__name__)

Emit = Callable[[Event], None]


class TurnWork:
    """Works on one turn and tells of it through ``emit``."""

    def __init__(self, turn: Turn, crew: Crew, fits: Fits, emit: Emit) -> None:
        """``fits`` says whether a prompt leaves room for this turn's reply."""
        self._turn = turn
        self._crew = crew
        self._fits = fits
        self._emit = emit
        self._instructions = instructions(turn.settings.system_prompt, crew.voice.language)

    async def run(self) -> None:
        """Do all the work. Cancelling it stops every stage."""
        seeing = asyncio.create_task(self._see())
        try:
            heard = await self._hear()
            notes = await seeing
        finally:
            seeing.cancel()
            await asyncio.wait({seeing})
        turn = self._turn
        question = "\n".join(words for words in (turn.text.strip(), heard) if words)
        if not question and turn.frames is None:
            self._emit(Silence(turn_id=turn.id, reason="No speech was heard."))
            return
        if not question and turn.audio is not None:
            self._notice("no_speech", "No speech was heard, so only the picture is answered.")
        messages = await self._crew.think.call(lambda: self._prompt(question, notes))
        if messages is None:
            self._notice("question_shortened", "That was too long, so only its end is answered.")
            shorten = partial(shortened_messages, self._instructions, question, self._fits)
            messages = await self._crew.think.call(shorten)
        await self._answer(messages)

    async def _hear(self) -> str:
        clip, language = self._turn.audio, self._turn.settings.language
        if clip is None:
            return ""
        watch = self._start(Stage.HEAR)
        segments: list[str] = []
        recognizer = self._crew.recognizer
        stream = self._crew.hear.stream(lambda stop: recognizer.transcribe(clip, language, stop))
        async with aclosing(stream):
            async for segment in stream:
                watch.mark()
                segments.append(segment)
                self._transcript(segments, final=False)
        if segments:
            self._transcript(segments, final=True)
        self._emit(watch.timing())
        return " ".join(segments)

    async def _see(self) -> str:
        frames = self._turn.frames
        if frames is None or self._crew.chat.sees_pictures:
            return ""
        eyes = self._crew.eyes
        stream = self._crew.see.stream(lambda stop: iter([eyes.look(frames, stop)]))
        async with aclosing(stream):
            notes = "".join([part async for part in stream])
        if notes:
            self._emit(SceneNotes(turn_id=self._turn.id, text=notes))
        return notes

    def _prompt(self, question: str, notes: str) -> list[Message] | None:
        """The messages, or none if they do not even fit without the history and the notes."""
        history = self._turn.history
        images: tuple[NDArray[np.uint8], ...] = ()
        if self._turn.frames is not None and self._crew.chat.sees_pictures:
            pictures = self._turn.frames.images
            images = tuple(pictures[index] for index in telling_frames(pictures))
        for scene in dict.fromkeys((notes, "")):
            message = user_message(question, scene, images)
            messages = fitting_messages(self._instructions, history, message, self._fits)
            if messages is not None:
                return messages
        return None

    async def _answer(self, messages: list[Message]) -> None:
        sentences: asyncio.Queue[str | None] = asyncio.Queue()
        speaking = asyncio.create_task(self._speak(sentences))
        try:
            await self._think(messages, sentences)
            await speaking
        finally:
            speaking.cancel()
            await asyncio.wait({speaking})

    async def _think(self, messages: list[Message], sentences: asyncio.Queue[str | None]) -> None:
        watch, gate, cutter = self._start(Stage.THINK), SilenceGate(), SentenceCutter()
        longest, chat = self._turn.settings.max_reply_tokens, self._crew.chat
        stream = self._crew.think.stream(lambda stop: chat.reply(messages, longest, stop))
        async with aclosing(stream):
            async for delta in stream:
                watch.mark()
                self._write(gate.feed(delta), cutter, sentences)
        self._write(gate.finish(), cutter, sentences)
        for rest in cutter.finish():
            sentences.put_nowait(rest)
        sentences.put_nowait(None)
        self._emit(watch.timing())
        if gate.silent:
            reason = "The assistant chose not to reply."
            self._emit(Silence(turn_id=self._turn.id, reason=reason))

    def _write(
        self, text: str, cutter: SentenceCutter, sentences: asyncio.Queue[str | None]
    ) -> None:
        if not text:
            return
        self._emit(ReplyText(turn_id=self._turn.id, delta=text))
        for sentence in cutter.feed(text):
            sentences.put_nowait(sentence)

    async def _speak(self, sentences: asyncio.Queue[str | None]) -> None:
        watch: Stopwatch | None = None
        try:
            while (sentence := await sentences.get()) is not None:
                if words := speakable(sentence):
                    watch = watch or self._start(Stage.SPEAK)
                    await self._say(words, watch)
        except Exception:
            _log.exception("Speech of turn %s failed", self._turn.id)
            self._notice("speech_failed", "The reply could not be spoken.")
        if watch is not None:
            self._emit(watch.timing())

    async def _say(self, words: str, watch: Stopwatch) -> None:
        voice, speed = self._crew.voice, self._turn.settings.voice_speed
        stream = self._crew.speak.stream(lambda stop: voice.speak(words, speed, stop))
        async with aclosing(stream):
            async for pcm in stream:
                watch.mark()
                rate = voice.sample_rate
                # Small pieces: the first is heard while the others are still on their way.
                for start in range(0, len(pcm), rate // 4):
                    piece = pcm[start : start + rate // 4]
                    self._emit(SpeechChunk(turn_id=self._turn.id, pcm=piece, sample_rate=rate))

    def _start(self, stage: Stage) -> Stopwatch:
        self._emit(StageStarted(turn_id=self._turn.id, stage=stage))
        return Stopwatch(self._turn.id, stage)

    def _transcript(self, segments: list[str], *, final: bool) -> None:
        self._emit(Transcript(turn_id=self._turn.id, text=" ".join(segments), final=final))

    def _notice(self, code: str, text: str) -> None:
        self._emit(Notice(turn_id=self._turn.id, code=code, text=text))
