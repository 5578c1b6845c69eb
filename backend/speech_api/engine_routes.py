"""``/v1/engine``: how the engine is, which pipeline runs, and another one in its place."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from backend.contract.errors import TurnRefused
from backend.runtime.engine_thread import EngineThread
from backend.speech_api.errors import ApiError, of_refusal
from backend.speech_api.guards import guarded

_BODY_BYTES = 10_000


class PipelineChoice(BaseModel):
    """What ``POST /v1/engine`` takes."""

    pipeline: str


def make_engine_router(engine: EngineThread, *, may_switch: bool) -> APIRouter:
    """The routes that tell of the engine, and that change its pipeline.

    Args:
        engine: The engine that everybody uses.
        may_switch: Whether whoever reaches the app may change what runs for all.
    """
    router = APIRouter(prefix="/v1/engine", route_class=guarded(_BODY_BYTES))

    def told() -> dict[str, Any]:
        status = engine.status
        return {
            "state": status.state,
            "message": status.message,
            "progress": round(status.progress, 3),
            "engine": status.capabilities.name if status.capabilities else "",
            "pipeline": status.pipeline,
            "pipelines": status.pipelines,
            "may_switch": may_switch and len(status.pipelines) > 1,
        }

    @router.get("")
    async def status() -> dict[str, Any]:
        return told()

    @router.post("", status_code=202)
    async def switch(choice: PipelineChoice) -> dict[str, Any]:
        if not may_switch:
            text = "The model cannot be changed from here: see --allow-switching."
            raise ApiError(403, text, "switching_forbidden")
        try:
            await engine.switch(choice.pipeline)
        except TurnRefused as refusal:
            if refusal.code != "pipeline_unknown":
                raise of_refusal(refusal) from refusal
            raise ApiError(400, refusal.message, refusal.code, "pipeline") from refusal
        return told()

    return router
