"""What happens on Send and in a call, or is said beside the field that is wrong."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from backend.contract.errors import Field, TurnRefused
from backend.contract.turn import TurnSettings
from backend.conversation.registry import SessionRegistry
from backend.conversation.session import Session
from backend.media.intake import read_question
from backend.media.limits import MediaLimits
from backend.runtime.engine_thread import EngineThread
from ui.choices import Choices


class Sender:
    """Handles Send for every tab; all that it remembers is in the tab's session."""

    def __init__(
        self,
        registry: SessionRegistry,
        engine: EngineThread,
        limits: MediaLimits,
        fields: list[Field],
        *,
        max_text_chars: int,
    ) -> None:
        """Take the conversations, the engine, the limits, and the order of the error lines."""
        self._registry = registry
        self._engine = engine
        self._limits = limits
        self._fields = fields
        self._max_text_chars = max_text_chars

    async def send(
        self,
        session_id: str,
        text: str,
        audio: str | None,
        video: str | None,
        image: str | None,
        *choices: object,
    ) -> list[str]:
        """Start a turn; returns the error lines, all of them empty once it has begun."""
        try:
            session = self._registry.get(session_id)
            await self._start(session, text, (audio, video, image), Choices.of(*choices))
        except TurnRefused as refusal:
            return self._lines(refusal)
        return self._lines()

    async def settle(self, session_id: str, *choices: object) -> list[str]:
        """Let these choices hold for what is said in a call; returns the error lines."""
        try:
            session = self._registry.get(session_id)
            session.settings = self._settings(session, Choices.of(*choices))
        except TurnRefused as refusal:
            return self._lines(refusal)
        return self._lines()

    def _lines(self, refusal: TurnRefused | None = None) -> list[str]:
        """The error lines, in their order: at most one of them has words."""
        if refusal is None:
            return [""] * len(self._fields)
        field = refusal.field if refusal.field in self._fields else Field.TURN
        return [refusal.message if known is field else "" for known in self._fields]

    def _settings(self, session: Session, choices: Choices) -> TurnSettings:
        known = self._engine.status.capabilities
        controls = known.voice if known else None
        return choices.for_turn(controls, keeps=session.kept_voice is not None)

    async def _start(
        self,
        session: Session,
        text: str,
        paths: tuple[str | None, str | None, str | None],
        choices: Choices,
    ) -> None:
        if len(text) > self._max_text_chars:
            count, limit = f"{len(text):,}", f"{self._max_text_chars:,}"
            message = f"This message has {count} characters; the limit is {limit}."
            raise TurnRefused("text_too_long", message, Field.TEXT)
        audio, video, image = (Path(path) if path else None for path in paths)
        settings = self._settings(session, choices)
        # Taken after that, so that a spoken question outlasts a refusal of the voice.
        recorded, generation = session.recording.take(), session.generation
        limits = replace(self._limits, max_frames=int(choices.frames))
        question = await asyncio.to_thread(read_question, recorded or audio, video, image, limits)
        session.ask(
            text=text,
            audio=question.audio,
            frames=question.frames,
            settings=settings,
            attachments=question.attachments,
            notices=question.notices,
            generation=generation,
        )
