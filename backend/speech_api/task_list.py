"""The ten kinds of task, and which of them the engine takes."""

from __future__ import annotations

from collections.abc import Set

from backend.contract.engine import EngineState, EngineStatus
from backend.contract.tasks import TASKS, Input, TaskKind
from backend.runtime.engine_thread import EngineThread

Told = dict[str, object]


def told_tasks(engine: EngineThread) -> Told:
    """The kinds in the order of MiMo-Audio's authors, with what each needs, takes and gives."""
    known = engine.status.capabilities
    can, why = _offered(engine.status)
    tasks = [
        _told(kind) | {"available": name in can, "why": "" if name in can else why}
        for name, kind in TASKS.items()
    ]
    return {"engine": known.name if known else "", "tasks": tasks}


def _offered(status: EngineStatus) -> tuple[tuple[str, ...], str]:
    """Names of what can be asked for, and why nothing else can be."""
    if status.state in (EngineState.FAILED, EngineState.CLOSED):
        return (), f"The engine is not running: {status.message}"
    if status.capabilities is None:
        return (), "The engine is still loading."
    return status.capabilities.tasks, status.capabilities.no_other_tasks


def _told(kind: TaskKind) -> Told:
    return {
        "name": kind.name,
        "required": _names(kind.required),
        "optional": _names(kind.optional),
        **_gives(kind),
        "variants": {name: _gives(way) for name, way in kind.variants.items()},
    }


def _gives(kind: TaskKind) -> Told:
    return {"speaks": kind.speaks, "reasons": kind.reasons}


def _names(inputs: Set[Input]) -> list[str]:
    return [part.value for part in Input if part in inputs]
