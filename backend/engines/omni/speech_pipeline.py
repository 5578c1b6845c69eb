"""Talker and code2wav of a pipeline, as a turn uses them: speak a sentence in a voice.

They are all of Qwen3-TTS by itself, and the last two stages of AURA.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from backend.contract.engine import Capabilities
from backend.contract.turn import Turn, TurnSettings
from backend.contract.voice import VoiceMode
from backend.conversation.plain_text import plain
from backend.engines.omni.checkpoint import TtsCheckpoint
from backend.engines.omni.outputs import StageOutput, read_output
from backend.engines.omni.sampling import for_speech
from backend.engines.omni.voice_fields import voice_fields

if TYPE_CHECKING:
    from backend.engines.omni.staged import StagedOmni

_VOICES = {
    VoiceMode.CLONE: "in a voice copied from a clip",
    VoiceMode.NAMED: "in a voice of its own",
    VoiceMode.DESIGN: "in a voice made up from a description",
}


class SpeechPipeline:
    """A running pipeline that speaks, with the parameters that all turns share."""

    talker = 0
    """Number of the talker's stage; code2wav's is the next."""

    def __init__(self, omni: StagedOmni, checkpoint: TtsCheckpoint, params: Sequence[Any]) -> None:
        """Take the engine.

        Args:
            omni: The engine.
            checkpoint: The voices that its talker has.
            params: Sampling parameters, one for each stage.
        """
        self.omni = omni
        self._params = params
        self.checkpoint = checkpoint
        self.sample_rate = 24_000

    def describe(self) -> Capabilities:
        """What an engine on this pipeline can do."""
        controls = self.checkpoint.controls()
        configs: list[Any] = self.omni.engine.stage_vllm_configs
        return Capabilities(
            name="Qwen3-TTS",
            summary=f"Speaks texts as they are, {_VOICES[controls.modes[0]]}. Answers nothing.",
            sees_pictures=False,
            languages=("auto",),
            voice=replace(controls, takes_token_ids=False),
            sample_rate=self.sample_rate,
            # Every stage must be able to work on all of them.
            max_concurrent_turns=int(min(c.scheduler_config.max_num_seqs for c in configs)),
            hears_ahead=False,
            recites=True,
            answers=False,
        )

    def voice(self, turn: Turn) -> dict[str, Any]:
        """The voice that the turn asks for, as the pipeline's fields."""
        return voice_fields(turn.settings.voice, self.checkpoint)

    async def speak(
        self, words: str, fields: dict[str, Any], request_id: str, settings: TurnSettings
    ) -> AsyncGenerator[StageOutput]:
        """Speak one sentence with the voice of ``fields``; see ``voice``.

        Args:
            words: The sentence.
            fields: The voice.
            request_id: A name of its own.
            settings: How the talker draws its codec frames.
        """
        prompt = await asyncio.to_thread(self._speech_input, words, fields)
        params = for_speech(self._params, self.talker, words, settings)
        async with aclosing(self._run(self.talker, prompt, request_id, params)) as outputs:
            async for output in outputs:
                yield output

    def _speech_input(self, words: str, fields: dict[str, Any]) -> dict[str, Any]:
        request: dict[str, Any] = {"additional_information": fields}
        if fields["tts_pass_token_ids"][0] and self.talker:
            # The tokens of the stage that has written the words, where there is one.
            tokenizer = self.omni.tokenizer(self.talker - 1)
            request["said_ids"] = tokenizer.encode(plain(words), add_special_tokens=False)
        return self.omni.input_of(self.talker, plain(words), request)

    async def _run(
        self, stage: int, prompt: dict[str, Any], request_id: str, params: Sequence[Any]
    ) -> AsyncGenerator[StageOutput]:
        async with aclosing(self.omni.run(stage, prompt, request_id, params)) as outputs:
            async for output in outputs:
                yield read_output(output)
