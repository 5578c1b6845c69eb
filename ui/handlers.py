"""What happens on Send: read the files, start the turn, or say beside the field what is wrong."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path

import gradio as gr

from backend.contract.errors import Field, TurnRefused
from backend.contract.turn import TurnSettings
from backend.conversation.registry import SessionRegistry
from backend.conversation.session import Session
from backend.media.intake import read_question
from backend.media.limits import MediaLimits


@dataclass(frozen=True, slots=True)
class Choices:
    """The settings panel's values, in its order."""

    system_prompt: str
    language: str
    max_reply_tokens: int
    frames: int
    voice_speed: float

    def for_turn(self) -> TurnSettings:
        """What of it the engine is told."""
        return TurnSettings(
            system_prompt=self.system_prompt,
            language=self.language,
            max_reply_tokens=int(self.max_reply_tokens),
            voice_speed=float(self.voice_speed),
        )


class Sender:
    """Handles Send for every tab; all that it remembers is in the tab's session."""

    def __init__(
        self,
        registry: SessionRegistry,
        limits: MediaLimits,
        fields: list[Field],
        *,
        max_text_chars: int,
    ) -> None:
        """Take the conversations, the limits, and the order of the error lines."""
        self._registry = registry
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
    ) -> list[object]:
        """Start a turn; returns the new inputs and error lines in ``Composer.outputs`` order."""
        try:
            session = self._registry.get(session_id)
            await self._start(session, text, (audio, video, image), Choices(*choices))  # type: ignore[arg-type]
        except TurnRefused as refusal:
            field = refusal.field if refusal.field in self._fields else Field.TURN
            errors = [refusal.message if known is field else "" for known in self._fields]
            return [gr.skip()] * 4 + errors
        return ["", None, None, None] + [""] * len(self._fields)

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
        recorded, generation = session.recording.take(), session.generation
        limits = replace(self._limits, max_frames=int(choices.frames))
        question = await asyncio.to_thread(read_question, recorded or audio, video, image, limits)
        session.ask(
            text=text,
            audio=question.audio,
            frames=question.frames,
            settings=choices.for_turn(),
            attachments=question.attachments,
            notices=question.notices,
            generation=generation,
        )
