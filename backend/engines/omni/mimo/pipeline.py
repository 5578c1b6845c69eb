"""The MiMo-Audio pipeline as a task uses it: from a prompt to words and sound."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from backend.contract.engine import Capabilities
from backend.contract.tasks import TASKS, TaskRequest
from backend.contract.turn import TurnSettings
from backend.contract.voice import VoiceControls
from backend.engines.omni.mimo.prompt import Prompt
from backend.engines.omni.mimo.prompts import FittedPrompt, prompt_for
from backend.engines.omni.mimo.requests import at_model_rates
from backend.engines.omni.mimo.specs import TaskSpec
from backend.engines.omni.mimo.tokens import SAMPLE_RATE
from backend.engines.omni.outputs import StageOutput, read_output
from backend.engines.omni.sampling import changed

if TYPE_CHECKING:
    from backend.engines.omni.staged import StagedOmni

_SUMMARY = (
    "MiMo-Audio works on ten kinds of task: it speaks texts in a style or a copied voice, writes"
    " down and explains recordings, and holds dialogues. Calls need another engine."
)


class MimoPipeline:
    """Both stages of MiMo-Audio: one thinks and chooses the sound, the other makes it."""

    def __init__(
        self,
        omni: StagedOmni,
        params: Sequence[Any],
        context: int,
        thinking: Mapping[str, Any] | None = None,
        piece_s: float = 0.0,
    ) -> None:
        """Take the engine.

        Args:
            omni: The engine.
            params: Sampling parameters, one for each stage.
            context: Tokens that prompt and reply may have together.
            thinking: Sampling parameters of stage 0 that no task changes.
            piece_s: Seconds of sound that are made at a time; 0 where all comes at once.
        """
        self.omni = omni
        self._params = params
        self.context = context
        self._thinking = dict(thinking or {})
        self._piece_s = piece_s

    def describe(self) -> Capabilities:
        """What an engine on this pipeline can do."""
        configs: list[Any] = self.omni.engine.stage_vllm_configs
        comes = f"in pieces of {self._piece_s:g} s" if self._piece_s else "when all of it is made"
        return Capabilities(
            name="MiMo-Audio",
            summary=f"{_SUMMARY} Sound comes {comes}.",
            sees_pictures=False,
            languages=("auto",),
            voice=VoiceControls(),
            sample_rate=SAMPLE_RATE,
            # Both stages must be able to work on all of them.
            max_concurrent_turns=int(min(c.scheduler_config.max_num_seqs for c in configs)),
            hears_ahead=False,
            answers=False,
            tasks=tuple(TASKS),
            no_other_tasks="",
        )

    def prompt_for(self, spec: TaskSpec, request: TaskRequest, reply_tokens: int) -> FittedPrompt:
        """The prompt of a request, which may have clips of any rate. Takes long for long clips.

        Raises:
            TurnRefused: It cannot be worked on, or does not fit.
        """
        room = self.context - reply_tokens
        return prompt_for(spec, at_model_rates(request), self._count, room)

    def sampling(self, spec: TaskSpec, settings: TurnSettings) -> dict[str, Any]:
        """What stage 0 samples with in this turn, by the names of vLLM's ``SamplingParams``.

        A reply may take half of the context at most: otherwise there is no room for a prompt.
        """
        values = {**asdict(spec.sampling), **self._thinking}
        longest = min(settings.max_reply_tokens, self.context // 2)
        values["max_tokens"] = min(values["max_tokens"], longest)
        if settings.seed is not None:
            values["seed"] = settings.seed
        return values

    async def run(
        self,
        prompt: Prompt,
        sampling: Mapping[str, Any],
        modalities: Sequence[str],
        request_id: str,
    ) -> AsyncGenerator[StageOutput]:
        """Have a prompt worked on.

        Args:
            prompt: The prompt.
            sampling: What stage 0 samples with; see ``sampling``.
            modalities: ``text``, and ``audio`` where the reply may be spoken.
            request_id: A name of its own.

        Yields:
            The words, and the sound as soon as some is made, in the order in which they come.
        """
        # The marks stand in the text where they belong.
        thinking = changed(self._params[0], {**sampling, "skip_special_tokens": False})
        params = [thinking, *self._params[1:]]
        stream = self.omni.run(0, prompt.as_input(), request_id, params, modalities)
        async with aclosing(stream) as outputs:
            async for output in outputs:
                yield read_output(output)

    def _count(self, text: str) -> int:
        return len(self.omni.tokenizer(0).encode(text, add_special_tokens=False))
