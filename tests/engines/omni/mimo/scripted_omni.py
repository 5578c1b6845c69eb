"""A MiMo-Audio that gives the outputs that a test tells it to, as vLLM-Omni gives them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from backend.contract.media import Samples
from backend.engines.omni.mimo.pipeline import MimoPipeline
from backend.engines.omni.mimo.tokens import EMPTY_ID, EOT_ID, GROUP_SAMPLES
from tests.engines.omni.mimo.sounds import words

TIMES = {"serving_time_to_first_output_ms": 10.0, "stage_gen_time_ms": 20.0}


class _Tensor:
    """As much of a tensor as is read of one."""

    def __init__(self, samples: Samples) -> None:
        self._samples = samples

    def detach(self) -> _Tensor:
        return self

    float = cpu = detach

    def numpy(self) -> Samples:
        return self._samples


def _output(last_stage: int, kind: str, **completion: Any) -> SimpleNamespace:
    return SimpleNamespace(
        final_output_type=kind,
        metrics={"stage_metrics": {str(stage): TIMES for stage in range(last_stage + 1)}},
        stage_durations={"queue_wait_ms": 1.0},
        outputs=[SimpleNamespace(**completion)],
    )


def wrote(text: str, *token_ids: int, finish: str | None = None) -> SimpleNamespace:
    """An output of stage 0; a word is a token, its own id without meaning."""
    ids = [EOT_ID if word == "<|eot|>" else 1 for word in text.split()]
    return _output(
        0, "text", text=text, token_ids=[*ids, *token_ids], finish_reason=finish,
        multimodal_output=None,
    )  # fmt: skip


def groups(count: int, finish: str | None = None) -> SimpleNamespace:
    """An output of stage 0 that is so many groups of sound."""
    return _output(
        0, "text", text="<|empty|>" * count, token_ids=[EMPTY_ID] * count, finish_reason=finish,
        multimodal_output=None,
    )  # fmt: skip


def sounded(count: int, seed: int = 0) -> SimpleNamespace:
    """An output of stage 1 that holds the sound of so many groups."""
    return _output(
        1, "audio", text="", token_ids=[0], finish_reason=None,
        multimodal_output={"audio": _Tensor(sound(count, seed))},
    )  # fmt: skip


def no_sound() -> SimpleNamespace:
    """The output of stage 1 for a reply without sound."""
    return _output(
        1, "audio", text="", token_ids=[], finish_reason="stop", multimodal_output={"audio": None}
    )


def sound(count: int, seed: int = 0) -> Samples:
    noise = np.random.default_rng(seed).normal(0, 0.1, count * GROUP_SAMPLES)
    return noise.astype(np.float32)


class ScriptedOmni:
    """Stands in for ``StagedOmni``; ``sent`` has the requests, ``running`` those not ended."""

    def __init__(self, *outputs: SimpleNamespace) -> None:
        self.outputs = list(outputs)
        self.sent: list[SimpleNamespace] = []
        self.running: set[str] = set()
        self.before: Callable[[int], Any] = lambda number: asyncio.sleep(0)
        stage = SimpleNamespace(scheduler_config=SimpleNamespace(max_num_seqs=2))
        self.engine = SimpleNamespace(stage_vllm_configs=[stage, stage])

    def tokenizer(self, stage: int) -> SimpleNamespace:
        return SimpleNamespace(encode=lambda text, **_: [1] * words(text))

    async def run(
        self, first: int, prompt: dict, request_id: str, params: list, ends_with: list
    ) -> AsyncGenerator[SimpleNamespace]:
        sent = SimpleNamespace(prompt=prompt, id=request_id, params=params, ends_with=ends_with)
        self.sent.append(sent)
        self.running.add(request_id)
        try:
            for number, output in enumerate(self.outputs):
                await self.before(number)
                yield output
        finally:
            self.running.discard(request_id)


class Params(dict):
    """Stands in for ``SamplingParams``."""

    def clone(self) -> Params:
        return Params(self)


def pipeline(
    omni: ScriptedOmni, context: int = 8192, piece_s: float = 1.6, **thinking: Any
) -> MimoPipeline:
    """The pipeline on it; ``thinking`` are sampling parameters that no task changes."""
    params = [Params(temperature=0.6), Params(temperature=0.0)]
    return MimoPipeline(omni, params, context, thinking, piece_s)
