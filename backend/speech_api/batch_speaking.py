"""An item of a batch, spoken into a file through the same line that everybody waits in."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

from backend.batches.batch import Batch, Item
from backend.batches.runner import CannotGoOn, ItemFailed, Told
from backend.contract.engine import EngineState, TurnStream
from backend.contract.events import Event, SpeechChunk
from backend.contract.turn import Turn
from backend.runtime.engine_thread import EngineThread
from backend.speech_api.batch_checking import asked_of
from backend.speech_api.errors import ApiError
from backend.speech_api.guards import known_capabilities
from backend.speech_api.request import turn_for
from backend.speech_api.speaking import Spoken
from backend.speech_api.whole_file import FileFormat
from backend.voices.library import VoiceLibrary
from backend.voices.refusals import VoiceRefused

_AGAIN_S = 2.0  # until an item that found no place in the line asks again
_LATER = {"busy", "engine_loading"}
_FREE_BYTES = 500_000_000  # room on the disk that is left to others


class ItemSpeaker:
    """Speaks items with the engine, each in its turn."""

    def __init__(self, engine: EngineThread, library: VoiceLibrary) -> None:
        """Speak with an engine, in its voices and the kept ones."""
        self._engine = engine
        self._library = library

    async def speak(self, batch: Batch, item: Item, path: Path, tell: Told) -> None:
        """Speak an item into a file.

        Raises:
            ItemFailed: The engine did not take it, or failed at it.
            CannotGoOn: The engine is down or another one, or the disk is full.
        """
        self._check_engine(batch)
        if shutil.disk_usage(path.parent).free < _FREE_BYTES:
            raise CannotGoOn("The disk of the app is full. Delete what is not needed any more.")
        try:
            await self._speak(batch, item, path, tell)
        except (ApiError, VoiceRefused, ConnectionAbortedError) as error:
            if self._engine.status.state in (EngineState.FAILED, EngineState.CLOSED):
                text = f"The engine is not running: {self._engine.status.message}"
                raise CannotGoOn(text) from error
            self._check_engine(batch)
            raise ItemFailed(str(error) or "The sound broke off before its end.") from error
        except OSError as error:
            raise CannotGoOn(f"The file could not be written: {error.strerror}.") from error

    def _check_engine(self, batch: Batch) -> None:
        """Stop a batch where another pipeline has come: it may have none of the batch's voices.

        Once it is started again, it goes on with that one.
        """
        now = self._engine.status.pipeline
        before = batch.begun_with = batch.begun_with or now
        if before != now:
            text = f"The model was changed from {before} to {now}. Resume to go on with {now}."
            raise CannotGoOn(text)

    async def _speak(self, batch: Batch, item: Item, path: Path, tell: Told) -> None:
        spoken = await self._in_line(batch, item, tell)
        data = await spoken.whole(FileFormat(batch.kind))
        await asyncio.to_thread(path.write_bytes, data)

    async def _in_line(self, batch: Batch, item: Item, tell: Told) -> Spoken:
        asked = asked_of(item, batch)
        while True:
            try:
                can = known_capabilities(self._engine)
                turn, name = await asyncio.to_thread(
                    turn_for, asked, can, self._library, batch.owner
                )
                tags = f"{can.name}, voice {name}"
                counted = _Counting(self._engine, tell)
                return Spoken(turn, counted.submit, asked.response_format, tags)
            except ApiError as error:
                if error.code not in _LATER:
                    raise
            await asyncio.sleep(_AGAIN_S)


class _Counting:
    """A turn's stream that tells how much sound has come."""

    def __init__(self, engine: EngineThread, tell: Told) -> None:
        self._engine = engine
        self._tell = tell

    def submit(self, turn: Turn) -> TurnStream:
        self._stream = self._engine.submit(turn)
        return self

    @property
    def turn(self) -> Turn:
        return self._stream.turn

    def cancel(self) -> None:
        self._stream.cancel()

    async def __aiter__(self) -> AsyncIterator[Event]:
        seconds = 0.0
        async for event in self._stream:
            if isinstance(event, SpeechChunk):
                seconds += len(event.pcm) / event.sample_rate
                self._tell(seconds)
            yield event
