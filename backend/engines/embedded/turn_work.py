"""One turn through the stages: hear and see at once, then think, and speak while thinking."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing
from functools import partial

import numpy as np
from numpy.typing import NDArray

from backend.contract.events import ReplyText, SceneNotes, Silence, Stage, Transcript
from backend.contract.turn import Turn
from backend.conversation.sentences import SentenceCutter, cut_all
from backend.conversation.silence import SilenceGate
from backend.engines.embedded.crew import Crew
from backend.engines.embedded.eyes import telling_frames
from backend.engines.embedded.prompt import (
    Fits,
    fitting_messages,
    instructions,
    shortened_messages,
    user_message,
)
from backend.engines.embedded.speaking import Speaking
from backend.engines.embedded.stages import Message, no_report
from backend.engines.embedded.telling import Telling
from backend.engines.ending import stopped
from backend.engines.events import Emit
from backend.engines.failures import plainly

_log = logging.getLogger(__name__)

_HEAR_FAILED = "The recording could not be turned into words. Try again, or type the question."
_THINK_FAILED = "The chat model failed while it worked on this. Try again."
_SPEAK_FAILED = "The voice failed while it spoke this text. Try again."


class TurnWork:
    """Works on one turn and tells of it through ``emit``."""

    def __init__(self, turn: Turn, crew: Crew, fits: Fits, emit: Emit) -> None:
        """``fits`` says whether a prompt leaves room for this turn's reply."""
        self._turn = turn
        self._crew = crew
        self._fits = fits
        self._tell = Telling(turn.id, emit)
        self._instructions = instructions(turn.settings.system_prompt, crew.voice.language)

    async def run(self) -> None:
        """Do all the work. Cancelling it stops every stage."""
        if self._turn.script:
            await self._recite()
            return
        seeing = asyncio.create_task(self._see())
        try:
            heard = await self._hear()
            notes = await seeing
        finally:
            await stopped(seeing)
        turn = self._turn
        question = "\n".join(words for words in (turn.text.strip(), heard) if words)
        if not question and turn.frames is None:
            self._tell.event(Silence(turn_id=turn.id, reason="No speech was heard."))
            return
        if not question and turn.audio is not None:
            self._tell.notice("no_speech", "No speech was heard, so only the picture is answered.")
        with plainly(_THINK_FAILED):
            messages = await self._messages(question, notes)
            await self._answer(messages)

    async def _recite(self) -> None:
        sentences: asyncio.Queue[str | None] = asyncio.Queue()
        for sentence in cut_all(self._turn.script):
            self._tell.event(ReplyText(turn_id=self._turn.id, delta=sentence))
            sentences.put_nowait(sentence)
        sentences.put_nowait(None)
        with plainly(_SPEAK_FAILED):
            await Speaking(self._turn, self._crew, self._tell).recite(sentences)

    async def read_ahead(self) -> None:
        """Look, and leave the prompt so far in the chat model's cache; tells nothing.

        The look is remembered: a scene that stays as it is is not looked at again.
        """
        with plainly(_THINK_FAILED):
            messages = await self._messages(self._turn.heard, await self._notes())
            chat = self._crew.chat
            stream = self._crew.think.stream(lambda stop: chat.reply(messages, 1, stop, no_report))
            async with aclosing(stream):
                async for _ in stream:
                    pass

    async def _hear(self) -> str:
        clip, language = self._turn.audio, self._turn.settings.language
        if clip is None:
            return ""
        if self._turn.heard:
            self._transcript([self._turn.heard], final=True)
            return self._turn.heard
        watch, report = self._tell.start(Stage.HEAR), self._tell.reports(Stage.HEAR)
        segments: list[str] = []
        recognizer = self._crew.recognizer
        stream = self._crew.hear.stream(
            lambda stop: watch.timed(recognizer.transcribe(clip, language, stop, report))
        )
        with plainly(_HEAR_FAILED):
            async with aclosing(stream):
                async for segment in stream:
                    watch.mark()
                    segments.append(segment)
                    self._transcript(segments, final=False)
        if segments:
            self._transcript(segments, final=True)
        self._tell.event(watch.timing())
        return " ".join(segments)

    async def _see(self) -> str:
        try:
            notes = await self._notes()
        except Exception:
            _log.exception("The eyes failed on turn %s", self._turn.id)
            text = (
                "The picture could not be looked at, so the answer does not take it into account."
            )
            self._tell.notice("eyes_failed", text)
            return ""
        if notes:
            self._tell.event(SceneNotes(turn_id=self._turn.id, text=notes))
        return notes

    async def _notes(self) -> str:
        frames, sights, who = self._turn.frames, self._crew.sights, self._turn.session_id
        if frames is None or self._crew.chat.sees_pictures:
            return ""
        stream = self._crew.see.stream(lambda stop: iter([sights.look(who, frames, stop)]))
        async with aclosing(stream):
            return "".join([part async for part in stream])

    async def _messages(self, question: str, notes: str) -> list[Message]:
        think = self._crew.think
        messages = await think.call(lambda: self._prompt(question, notes))
        if messages is None:
            text = "That was too long, so only its end is answered."
            self._tell.notice("question_shortened", text)
            shorten = partial(shortened_messages, self._instructions, question, self._fits)
            messages = await think.call(shorten)
        return messages

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
        speaking = asyncio.create_task(
            Speaking(self._turn, self._crew, self._tell).reply(sentences)
        )
        try:
            await self._think(messages, sentences)
            await speaking
        finally:
            await stopped(speaking)

    async def _think(self, messages: list[Message], sentences: asyncio.Queue[str | None]) -> None:
        watch, report = self._tell.start(Stage.THINK), self._tell.reports(Stage.THINK)
        gate, cutter = SilenceGate(), SentenceCutter(hurried=True)
        longest, chat = self._turn.settings.max_reply_tokens, self._crew.chat
        stream = self._crew.think.stream(
            lambda stop: watch.timed(chat.reply(messages, longest, stop, report))
        )
        async with aclosing(stream):
            async for delta in stream:
                watch.mark()
                self._write(gate.feed(delta), cutter, sentences)
        self._write(gate.finish(), cutter, sentences)
        for rest in cutter.finish():
            sentences.put_nowait(rest)
        sentences.put_nowait(None)
        self._tell.event(watch.timing())
        if gate.silent:
            reason = "The assistant chose not to reply."
            self._tell.event(Silence(turn_id=self._turn.id, reason=reason))

    def _write(
        self, text: str, cutter: SentenceCutter, sentences: asyncio.Queue[str | None]
    ) -> None:
        if not text:
            return
        self._tell.event(ReplyText(turn_id=self._turn.id, delta=text))
        for sentence in cutter.feed(text):
            sentences.put_nowait(sentence)

    def _transcript(self, segments: list[str], *, final: bool) -> None:
        text = " ".join(segments)
        self._tell.event(Transcript(turn_id=self._turn.id, text=text, final=final))
