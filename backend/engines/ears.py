"""What hears a clip outside any turn: the engine, or a small recogniser where it cannot."""

from __future__ import annotations

import logging
import os
from contextlib import aclosing
from functools import cached_property, partial
from typing import Self

from backend.contract.media import AudioClip
from backend.engines.embedded import models
from backend.engines.embedded.recognizer import WhisperRecognizer
from backend.engines.embedded.stages import Recognizer, no_report
from backend.engines.embedded.threads import StageThread
from backend.runtime.engine_thread import EngineThread
from backend.settings import Settings

_log = logging.getLogger(__name__)


class Ears:
    """Hears for the checks of clips and takes, whatever engine runs.

    An engine that only speaks has no recogniser, and there most of all a clip whose words are not
    those of its reference text does harm.
    """

    def __init__(self, engine: EngineThread, recognizer: Recognizer) -> None:
        """Hear with an engine, or with a recogniser that is loaded when first needed."""
        self._engine = engine
        self._recognizer = recognizer
        self._state = "not loaded"

    @classmethod
    def from_settings(cls, engine: EngineThread, settings: Settings) -> Self:
        """With the recogniser that the settings name; nothing is loaded yet."""
        find_model = partial(models.find_recognizer, settings.recognizer)
        threads = settings.threads or os.cpu_count() or 1
        return cls(engine, WhisperRecognizer(find_model, threads))

    @cached_property
    def _thread(self) -> StageThread:
        return StageThread("ears")

    async def hear(self, clip: AudioClip, written: str = "") -> str | None:
        """The words of a clip; empty when nobody speaks.

        Args:
            clip: The clip.
            written: What it is said to say, which tells whether the small recogniser knows the
                language.

        Returns:
            None where neither can hear it.

        Raises:
            EngineFailed: The engine is not ready.
        """
        heard = await self._engine.hear(clip, "auto")
        return heard if heard is not None else await self._hear_here(clip, written)

    def close(self) -> None:
        """Free the recogniser, if it was ever needed."""
        if "_thread" in self.__dict__:
            self._thread.close(self._recognizer.close)

    async def _hear_here(self, clip: AudioClip, written: str) -> str | None:
        if not await self._thread.call(self._is_loaded):
            return None
        foreign = any(sign.isalpha() and not sign.isascii() for sign in written)
        if self._recognizer.languages == ("en",) and foreign:
            return None
        transcribe = self._recognizer.transcribe
        stream = self._thread.stream(lambda stop: transcribe(clip, "auto", stop, no_report))
        async with aclosing(stream):
            return " ".join([segment async for segment in stream])

    def _is_loaded(self) -> bool:
        if self._state == "not loaded":
            try:
                self._recognizer.load()
                self._state = "loaded"
            except Exception:
                _log.exception("Clips are not heard")
                self._state = "missing"
        return self._state == "loaded"
