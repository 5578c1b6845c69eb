"""The part of vLLM-Omni that moves requests from stage to stage; here they may begin at any."""

from __future__ import annotations

import time
from typing import Any

from vllm_omni.engine.messages import StageSubmissionMessage
from vllm_omni.engine.orchestrator import Orchestrator, OrchestratorRequestState

FIRST_STAGE = "first_stage"
"""Key of a prompt that names the stage that its request begins at."""


def first_stage(prompt: Any) -> int:
    """The stage that a request with this prompt begins at."""
    return prompt.get(FIRST_STAGE, 0) if isinstance(prompt, dict) else 0


class StagedOrchestrator(Orchestrator):
    """Takes requests in at any stage, and lets a bad one fail by itself."""

    def request_for(self, stage: int, request_id: str, prompt: dict[str, Any], params: Any) -> Any:
        """The request that ``stage`` gets for ``prompt``."""
        return self._build_next_stage_request(request_id, stage, prompt, params)

    async def _handle_add_request(self, msg: StageSubmissionMessage) -> None:
        first = first_stage(msg.original_prompt)
        if first == 0:
            await super()._handle_add_request(msg)
            return
        state = OrchestratorRequestState(
            request_id=msg.request_id,
            prompt=msg.original_prompt,
            sampling_params_list=msg.sampling_params_list,
            final_stage_id=msg.final_stage_id,
            final_output_stage_ids=set(msg.final_output_stage_ids or ()),
            request_timestamp=msg.request_timestamp,
        )
        state.stage_submit_ts[first] = time.time()
        state.pipeline_timings["queue_wait_ms"] = (time.perf_counter() - msg.enqueue_ts) * 1000
        state.pipeline_timings["preprocess_ms"] = msg.preprocess_ms
        self.request_states[msg.request_id] = state
        self._register_running_request(state)
        submitted = await self._dispatch_or_fail_request(
            lambda: self.stage_pools[first].submit_initial(msg.request_id, state, msg.prompt),
            req_id=msg.request_id,
            stage_id=first,
            operation="add_request",
        )
        if submitted and self.async_chunk:
            await self._prewarm_async_chunk_stages(msg.request_id, msg.prompt, state)

    async def _handle_forward_failure(
        self,
        req_id: str,
        next_stage_id: int,
        req_state: OrchestratorRequestState,
        exc: BaseException,
    ) -> bool:
        del req_state
        await self._fail_request_client_error(req_id, next_stage_id, str(exc))
        return True
