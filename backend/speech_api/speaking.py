"""The sound of one request, from the engine's events to the bytes of a file."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime

import numpy as np

from backend.contract.engine import TurnStream
from backend.contract.errors import TurnRefused
from backend.contract.events import Outcome, SpeechChunk, TurnEnd
from backend.contract.turn import Turn
from backend.speech_api.errors import ApiError, of_refusal
from backend.speech_api.formats import SpeechFile, SpeechFormat
from backend.speech_api.whole_file import FileFormat, whole_file

log = logging.getLogger(__name__)


def synthetic_tags(who: str) -> dict[str, str]:
    """The notes in a file of speech.

    Args:
        who: The engine and the voice, for people.
    """
    return {
        "artist": who,
        "comment": "Synthetic speech",
        "date": datetime.now(UTC).date().isoformat(),
        "encoder": "Omni Live",
    }


class Spoken:
    """One request that is being spoken."""

    def __init__(
        self, turn: Turn, submit: Callable[[Turn], TurnStream], kind: SpeechFormat, tags: str
    ) -> None:
        """Queue the turn.

        Args:
            turn: A turn with a script.
            submit: Takes it to the engine.
            kind: Format of the file.
            tags: Who speaks with what, for the file's own notes.

        Raises:
            ApiError: The engine has failed, or too many turns wait.
        """
        try:
            self._stream = submit(turn)
        except TurnRefused as refusal:
            raise of_refusal(refusal) from refusal
        self._events = aiter(self._stream)
        self._kind = kind
        self._tags = synthetic_tags(tags)
        self._first: SpeechChunk | None = None

    async def begin(self) -> None:
        """Return when there is sound, so that what goes wrong before it is an error to the client.

        Raises:
            ApiError: There will be none.
        """
        async for event in self._events:
            if isinstance(event, SpeechChunk):
                self._first = event
                return
            if isinstance(event, TurnEnd):
                raise _no_sound(event)

    async def file(self) -> AsyncIterator[bytes]:
        """The file, piece by piece; breaks off where the engine fails in the middle.

        Raises:
            ConnectionAbortedError: The engine failed: a client must not take this for the whole.
        """
        assert self._first is not None  # noqa: S101 - ``begin`` came before
        file = SpeechFile(self._kind, self._first.sample_rate, self._tags)
        try:
            yield file.feed(self._first.pcm)
            async for chunk in self._rest():
                if piece := file.feed(chunk.pcm):
                    yield piece
            yield file.feed(np.zeros(0, np.float32), last=True)
        finally:
            self._stream.cancel()

    async def events(self) -> AsyncIterator[str]:
        """The file in server-sent events, as OpenAI's API names them."""
        async for piece in self.file():
            audio = base64.b64encode(piece).decode()
            yield _event({"type": "speech.audio.delta", "audio": audio})
        yield _event({"type": "speech.audio.done"})

    async def whole(self, kind: FileFormat) -> bytes:
        """The file, once all of it has been spoken; it can say how long it is.

        Args:
            kind: Its format, whatever the streamed file's would be.

        Raises:
            ApiError: There is no sound.
            ConnectionAbortedError: The engine failed in the middle.
        """
        try:
            await self.begin()
            assert self._first is not None  # noqa: S101 - ``begin`` has returned
            pieces = [self._first.pcm, *[chunk.pcm async for chunk in self._rest()]]
            rate, tags = self._first.sample_rate, self._tags
            return await asyncio.to_thread(
                lambda: whole_file(np.concatenate(pieces), rate, kind, tags)
            )
        finally:
            self._stream.cancel()

    async def _rest(self) -> AsyncIterator[SpeechChunk]:
        async for event in self._events:
            if isinstance(event, SpeechChunk):
                yield event
            if isinstance(event, TurnEnd) and event.outcome is not Outcome.ANSWERED:
                raise ConnectionAbortedError(event.message)

    def cancel(self) -> None:
        """Stop: nobody listens any more."""
        self._stream.cancel()


def _event(told: dict[str, str]) -> str:
    return f"data: {json.dumps(told)}\n\n"


def _no_sound(end: TurnEnd) -> ApiError:
    if end.refusal:
        return of_refusal(TurnRefused(end.refusal, end.message))
    message = end.message or "There is nothing to be heard in this text."
    return ApiError(500 if end.outcome is Outcome.FAILED else 400, message, "no_sound", "input")
