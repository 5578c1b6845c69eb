"""The AURA pipeline as a turn uses it: hear a clip, think about a question, and speak."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from backend.contract.engine import Capabilities
from backend.contract.errors import Field, TurnRefused
from backend.contract.media import AudioClip
from backend.contract.turn import Turn
from backend.conversation.languages import language_name
from backend.conversation.plain_text import plain
from backend.engines.omni.checkpoint import HEARD_LANGUAGES, TtsCheckpoint
from backend.engines.omni.outputs import StageOutput
from backend.engines.omni.pictures import vision_input, vision_tokens
from backend.engines.omni.prompts import fitting_history, hearing_prompt, system_with_history
from backend.engines.omni.sampling import for_look, for_reply
from backend.engines.omni.speech_pipeline import SpeechPipeline

if TYPE_CHECKING:
    from backend.engines.omni.staged import StagedOmni

_CHAT_TOKENS = 32
"""Room for the tokens that open and close the turns of a prompt."""

_SUMMARY = "Qwen3-ASR hears, AURA looks and thinks, Qwen3-TTS speaks. It may choose to stay silent."


class Pipeline(SpeechPipeline):
    """All four stages of AURA, with the parameters that all turns share."""

    talker = 2

    def __init__(
        self, omni: StagedOmni, checkpoint: TtsCheckpoint, params: Sequence[Any], context: int
    ) -> None:
        """Take the engine.

        Args:
            omni: The engine.
            checkpoint: The voices that its talker has.
            params: Sampling parameters, one for each stage.
            context: Tokens that prompt and reply of the thinking stage may have together.
        """
        super().__init__(omni, checkpoint, params)
        self.context = context

    def describe(self) -> Capabilities:
        """What an engine on this pipeline can do."""
        return replace(
            super().describe(),
            name="AURA",
            summary=_SUMMARY,
            sees_pictures=True,
            languages=("auto", *HEARD_LANGUAGES),
            voice=self.checkpoint.controls(),
            hears_ahead=True,
            answers=True,
        )

    def hear(self, clip: AudioClip, language: str, request_id: str) -> AsyncGenerator[StageOutput]:
        """Recognise one clip of at most 30 s; ``language`` is a code or ``auto``."""
        name = "" if language == "auto" else language_name(language)
        prompt = {
            "prompt": hearing_prompt(name),
            "multi_modal_data": {"audio": (clip.samples, clip.sample_rate)},
        }
        return self._run(0, prompt, request_id, self._params)

    async def prompt_for(self, turn: Turn, question: str) -> dict[str, Any]:
        """What the thinking stage reads: instructions, history, frames, question.

        Raises:
            TurnRefused: ``text_too_long``: it does not fit without any history either.
        """
        return await asyncio.to_thread(self._prompt_for, turn, question)

    def think(
        self, prompt: dict[str, Any], max_reply_tokens: int, request_id: str
    ) -> AsyncGenerator[StageOutput]:
        """Write the reply to a prompt."""
        return self._run(1, prompt, request_id, for_reply(self._params, max_reply_tokens))

    async def look(self, turn: Turn, request_id: str) -> None:
        """Have the thinking stage read all that comes before the question.

        Pictures take most of a prompt. Read while the question is still being heard, they are in
        the stage's cache when the question comes.
        """
        prompt = await self.prompt_for(turn, "")
        head, end, _ = prompt["prompt"].rpartition("<|vision_end|>")
        run = self._run(1, {**prompt, "prompt": head + end}, request_id, for_look(self._params))
        async with aclosing(run):
            async for _ in run:
                pass

    def _prompt_for(self, turn: Turn, question: str) -> dict[str, Any]:
        settings = turn.settings
        fixed = f"{settings.system_prompt}\n{question}"
        used = self._count(fixed) + vision_tokens(turn.frames) + _CHAT_TOKENS
        room = self.context - used - settings.max_reply_tokens
        if room < 0:
            text = "This is too long for the model, together with the pictures and the reply."
            raise TurnRefused("text_too_long", text, Field.TEXT)
        history = fitting_history(turn.history, self._count, room)
        seen = vision_input(turn.frames) if turn.frames is not None else {}
        info = {
            "aura_system_prompt": [system_with_history(settings.system_prompt, history)],
            "deferred_multi_modal_data": seen,
        }
        prompt = self.omni.input_of(1, plain(question), {"additional_information": info})
        return {"prompt": prompt["prompt"], "multi_modal_data": seen or None}

    def _count(self, text: str) -> int:
        return len(self.omni.tokenizer(1).encode(text, add_special_tokens=False))
