"""A deploy file as far as memory, models and the wiring of the stages go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from backend.engines.omni.doctor.deploy_file import ProfileProblem, read_deploy_file
from backend.engines.omni.doctor.stage_plan import ROLES, StagePlan, plan_stage


@dataclass(frozen=True, slots=True)
class Profile:
    """A deploy file.

    Attributes:
        path: Where it was read.
        card: The card that it was made for, in words.
        card_bytes: The memory of that card; 0 when the file names none.
        sessions: How many it was made for; 0 when the file does not say.
        hosts: Stages of each host, when they run on several.
        stages: Its stages, by number.
        doubts: What looks wrong in it, in plain words.
    """

    path: Path
    card: str
    card_bytes: int
    sessions: int
    hosts: Mapping[str, tuple[int, ...]]
    stages: tuple[StagePlan, ...]
    doubts: tuple[str, ...]

    def with_models(self, models: Mapping[int, str]) -> Profile:
        """The same with other models, by stage number."""
        stages = (replace(s, model=models.get(s.number, s.model)) for s in self.stages)
        return replace(self, stages=tuple(stages))

    def only(self, numbers: frozenset[int]) -> Profile:
        """The part of it that runs on one of several hosts."""
        return replace(self, stages=tuple(s for s in self.stages if s.number in numbers))


def read_profile(path: Path) -> Profile:
    """Read a deploy file, with the files that it builds on.

    Raises:
        ProfileProblem: It cannot be read, or is not AURA's.
    """
    deploy, doubts = read_deploy_file(path)
    if deploy.get("pipeline") != "aura_omni":
        told = deploy.get("pipeline") or "not named"
        raise ProfileProblem(f"The pipeline of {path} is {told}; this engine runs aura_omni.")
    try:
        plans = [plan_stage(entry, deploy) for entry in deploy["stages"]]
        stages = sorted(plans, key=lambda plan: plan.number)
        about = deploy.get("omni_live") or {}
        hosts = {str(host): tuple(map(int, on)) for host, on in (about.get("hosts") or {}).items()}
        card_bytes = int(about.get("card_mib", 0)) << 20
        sessions = int(about.get("sessions", 0))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ProfileProblem(f"{path} has a value of the wrong kind: {error}.") from None
    if [stage.number for stage in stages] != list(range(len(ROLES))):
        raise ProfileProblem(f"{path} must have the stages 0, 1, 2 and 3, each once.")
    doubts = (*doubts, *_wiring_doubts(deploy, stages))
    return Profile(
        path, str(about.get("card", "")), card_bytes, sessions, hosts, tuple(stages), doubts
    )


def _wiring_doubts(deploy: Mapping[str, Any], stages: list[StagePlan]) -> list[str]:
    doubts = []
    if deploy.get("session_mode", "turn") != "turn":
        doubts.append("session_mode must be turn: this engine sends one turn at a time.")
    doubts += [
        f"async_chunk must be false on stage {stage.number}: with it on, stage 1 gets a prompt of "
        "one token, so it hears nothing and sees nothing."
        for stage in stages[:2]
        if stage.async_chunk
    ]
    if not all(stage.async_chunk for stage in stages[2:]):
        doubts.append("async_chunk is off for stages 2 and 3: sound comes only when all is made.")
    return doubts
