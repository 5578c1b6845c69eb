"""AsyncOmni that can run any part of its pipeline, so that the app decides what comes when.

vLLM-Omni 0.30 sends every request of a turn through all stages: typed words would be recognised,
and the talker would wait for the whole reply. Here a request names the stage that it begins at
and ends with the next stage that gives something to hear or read. What lies between, from the
scheduling to the way that the talker feeds the decoder, is vLLM-Omni's own.

It fills two seams that vLLM-Omni leaves to its duplex engine, ``_create_engine`` and
``_create_orchestrator``. Nothing else in the project imports its inner parts.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from vllm.utils.network_utils import close_sockets
from vllm_omni.engine.async_omni_engine import AsyncOmniEngine
from vllm_omni.engine.messages import StageSubmissionMessage
from vllm_omni.entrypoints.async_omni import AsyncOmni
from vllm_omni.model_executor.stage_input_processors.aura_omni import aura2tts

from backend.engines.omni.orchestrator import FIRST_STAGE, StagedOrchestrator, first_stage

_JOIN_TIMEOUT_S = 10.0
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - where Linux has it, under names of vLLM-Omni
TRANSCRIPT, TEXT, AUDIO = "transcript", "text", "audio"
_ENDS_WITH = {4: TRANSCRIPT, 3: TEXT, 2: AUDIO}
"""The output that ends a request, by the number of stages from where it begins to the last."""


class StagedOmni(AsyncOmni):
    """AURA, in which each part can be asked for by itself, or a pipeline of two stages.

    That is Qwen3-TTS, which is AURA's last part, or MiMo-Audio.
    """

    engine: StagedEngine

    def __init__(self, **options: Any) -> None:
        """Start the stages; see ``AsyncOmni``."""
        self._mark = uuid4().hex[:8]
        super().__init__(**options)

    def _create_engine(self, **options: Any) -> StagedEngine:
        return StagedEngine(**options)

    def sweep(self) -> None:
        """Remove what requests left in shared memory, and close what leads to the stages.

        Only when all stages have ended. vLLM-Omni leaves the lock of many requests, and the last
        sound of those that were broken off. vLLM leaves its sockets open where a stage ends while
        its loop does, and whatever thread later collects the garbage waits for them for ever.
        """
        orchestrator = self.engine.orchestrator_thread
        orchestrator.join(_JOIN_TIMEOUT_S)
        if not orchestrator.is_alive():
            for client in self.engine.stage_clients:
                close_sockets((client.resources.output_socket, client.resources.input_socket))
        for path in _SHARED_MEMORY.glob(f"*{self._mark}-*"):
            path.unlink(missing_ok=True)

    def run(
        self,
        first_stage: int,
        prompt: dict[str, Any],
        request_id: str,
        params: Sequence[Any],
        ends_with: Sequence[str] = (),
    ) -> AsyncGenerator[Any]:
        """Run the stages from ``first_stage`` on: 0 of AURA to hear, 1 to think, 2 to speak.

        Args:
            first_stage: Where the request begins.
            prompt: The input of that very stage.
            request_id: A name of its own.
            params: Sampling parameters, one for each stage of the pipeline.
            ends_with: Kinds of output that are wanted; by default the one that comes next.

        Yields:
            ``OmniRequestOutput`` of the stages whose outputs are wanted.
        """
        next_output = _ENDS_WITH[len(self.engine.stage_clients) - first_stage]
        outputs: AsyncGenerator[Any] = self.generate(
            {**prompt, FIRST_STAGE: first_stage},
            request_id=f"{self._mark}-{request_id}",
            sampling_params_list=params,
            output_modalities=list(ends_with or [next_output]),
        )
        return outputs

    def input_of(self, stage: int, text: str, request: dict[str, Any]) -> dict[str, Any]:
        """What the pipeline itself would give ``stage`` once the one before it has said ``text``.

        Raises:
            ValueError: The pipeline cannot make an input of this.
        """
        # Before the talker of Qwen3-TTS there is no stage; AURA's bridge makes the same input.
        bridge = self.engine.stage_clients[stage].custom_process_input_func or aura2tts
        inputs = bridge([_Said(text, request.get("said_ids", ()))], [request], True)
        if not inputs:
            raise ValueError("There is nothing to say in this.")
        # A first stage takes the mere name of sound or pictures for some, also where none are.
        return {name: part for name, part in inputs[0].items() if part is not None}

    def tokenizer(self, stage: int) -> Any:
        """The tokenizer of a stage that reads text."""
        return self.engine.output_processors[stage].tokenizer


class StagedEngine(AsyncOmniEngine):
    """Prepares a request's input for the stage that it begins at, away from the event loop."""

    _orchestrator: StagedOrchestrator

    def _initialize_stages(self, stage_init_timeout: int) -> None:
        super()._initialize_stages(stage_init_timeout)
        self._adding: dict[int, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._dropped: set[asyncio.Task[None]] = set()
        if _ENDS_WITH[len(self.stage_clients)] != TRANSCRIPT:
            return
        # The words that were heard are an output too: the page shows them.
        hearing = self.stage_clients[0]
        hearing.final_output, hearing.final_output_type = True, TRANSCRIPT
        self.stage_metadata[0] = replace(
            self.stage_metadata[0], final_output=True, final_output_type=TRANSCRIPT
        )

    def _create_orchestrator(self, **options: Any) -> StagedOrchestrator:
        self._orchestrator = StagedOrchestrator(**options)
        return self._orchestrator

    async def add_request_async(self, *args: Any, **options: Any) -> None:
        """Add a request; the reading of sound and pictures does not hold up the event loop.

        Requests for one stage are read one after the other: vLLM sends a picture once and then
        only its name, so the first request to hold it has to reach the stage first. A cancelled
        call returns at once, for a long clip takes many seconds. If it is being read, it still
        goes in, since later ones rely on what it has sent, and is aborted then.
        """
        lock = self._adding[first_stage(options.get("prompt"))]
        await lock.acquire()
        adding = asyncio.create_task(asyncio.to_thread(self.add_request, *args, **options))
        adding.add_done_callback(lambda _: lock.release())
        try:
            await asyncio.shield(adding)
        except asyncio.CancelledError:
            self._dropped.add(adding)
            adding.add_done_callback(partial(self._drop, options["request_id"]))
            raise

    def _drop(self, request_id: str, added: asyncio.Task[None]) -> None:
        self._dropped.discard(added)
        if not added.cancelled() and added.exception() is None:
            self.abort([request_id])

    def _build_add_request_message(
        self, request_id: str, prompt: Any, *args: Any, **options: Any
    ) -> StageSubmissionMessage:
        first = first_stage(prompt)
        if isinstance(prompt, dict):
            prompt.pop(FIRST_STAGE, None)
        if first == 0:
            return super()._build_add_request_message(request_id, prompt, *args, **options)
        started = time.perf_counter()
        params = list(options["sampling_params_list"])
        request = self._orchestrator.request_for(first, request_id, prompt, params[first])
        now = time.perf_counter()
        return StageSubmissionMessage(
            type="add_request",
            request_id=request_id,
            prompt=request,
            original_prompt={**prompt, FIRST_STAGE: first},
            output_prompt_text=None,
            sampling_params_list=params,
            final_stage_id=options["final_stage_id"],
            final_output_stage_ids=list(options["final_output_stage_ids"]),
            preprocess_ms=(now - started) * 1000,
            request_timestamp=options.get("arrival_time") or time.time(),
            enqueue_ts=now,
        )


class _Said:
    """A stage's finished output, as the pipeline's bridges read it."""

    request_id = "said"
    finished = True

    def __init__(self, text: str, token_ids: Sequence[int]) -> None:
        self.text = self.cumulative_text = text
        self.cumulative_token_ids = list(token_ids)
        self.outputs = [self]
