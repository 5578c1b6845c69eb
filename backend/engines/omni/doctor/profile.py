"""A deploy file as far as memory, models and the wiring of the stages go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from backend.engines.omni.doctor.deploy_file import ProfileProblem, read_deploy_file
from backend.engines.omni.doctor.mimo_limits import limit_doubts
from backend.engines.omni.doctor.stage_plan import (
    MIMO,
    PIPELINES,
    StagePlan,
    checked_device,
    plan_stage,
)


@dataclass(frozen=True, slots=True)
class Profile:
    """A deploy file.

    Attributes:
        path: Where it was read.
        pipeline: Its name in vLLM-Omni.
        card: The card that it was made for, in words.
        card_bytes: The memory of that card; 0 when the file names none.
        sessions: How many it was made for; 0 when the file does not say.
        hosts: Stages of each host, when they run on several.
        stages: Its stages, by number.
        doubts: What looks wrong in it, in plain words.
        tokenizer: Folder or hub name of the audio tokenizer that MiMo-Audio needs beside its model.
        tokenizer_device: Where all copies of that run, as ``cpu`` or ``cuda:1``; empty for where
            vLLM-Omni puts each.
    """

    path: Path
    pipeline: str
    card: str
    card_bytes: int
    sessions: int
    hosts: Mapping[str, tuple[int, ...]]
    stages: tuple[StagePlan, ...]
    doubts: tuple[str, ...]
    tokenizer: str = ""
    tokenizer_device: str = ""

    @property
    def model(self) -> str:
        """The model that gives the pipeline its name: AURA, or the talker where it is alone."""
        return self.stages[-min(3, len(self.stages))].model

    def with_models(self, models: Mapping[int, str]) -> Profile:
        """The same with other models, by stage number.

        Raises:
            ProfileProblem: There is no such stage.
        """
        known = [stage.number for stage in self.stages]
        if unknown := sorted(models.keys() - set(known)):
            raise ProfileProblem(f"{self.path} has no stage {unknown[0]}, only {_listed(known)}.")
        stages = tuple(replace(s, model=models.get(s.number, s.model)) for s in self.stages)
        return replace(self, stages=stages, doubts=(*self.doubts, *_voice_doubts(stages)))

    def only(self, numbers: frozenset[int]) -> Profile:
        """The part of it that runs on one of several hosts."""
        return replace(self, stages=tuple(s for s in self.stages if s.number in numbers))


def read_profile(path: Path) -> Profile:
    """Read a deploy file, with the files that it builds on.

    Raises:
        ProfileProblem: It cannot be read, or is for a pipeline that this engine does not run.
    """
    deploy, doubts = read_deploy_file(path)
    pipeline = str(deploy.get("pipeline") or "not named")
    roles = PIPELINES.get(pipeline)
    if roles is None:
        known = _listed(PIPELINES)
        raise ProfileProblem(f"The pipeline of {path} is {pipeline}; this engine runs {known}.")
    if sorted(entry["stage_id"] for entry in deploy["stages"]) != list(range(len(roles))):
        numbers = _listed(range(len(roles)))
        raise ProfileProblem(f"{path} must have the stages {numbers}, each once.")
    try:
        plans = [plan_stage(entry, deploy, roles) for entry in deploy["stages"]]
        stages = sorted(plans, key=lambda plan: plan.number)
        about = deploy.get("omni_live") or {}
        hosts = {str(host): tuple(map(int, on)) for host, on in (about.get("hosts") or {}).items()}
        card_bytes = int(about.get("card_mib", 0)) << 20
        sessions = int(about.get("sessions", 0))
        doubts = (*doubts, *_wiring_doubts(deploy, stages))
        if pipeline == MIMO:
            doubts = (*doubts, *limit_doubts(deploy, stages))
        tokenizer_device = checked_device(about.get("tokenizer_device"))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ProfileProblem(f"{path} has a value of the wrong kind: {error}.") from None
    return Profile(
        path=path,
        pipeline=pipeline,
        card=str(about.get("card", "")),
        card_bytes=card_bytes,
        sessions=sessions,
        hosts=hosts,
        stages=tuple(stages),
        doubts=doubts,
        tokenizer=str(about.get("tokenizer") or ""),
        tokenizer_device=tokenizer_device,
    )


def _wiring_doubts(deploy: Mapping[str, Any], stages: list[StagePlan]) -> list[str]:
    doubts = []
    if deploy.get("session_mode", "turn") != "turn":
        doubts.append("session_mode must be turn: this engine sends one turn at a time.")
    doubts += [
        f"async_chunk must be false on stage {stage.number}: with it on, stage 1 gets a prompt of "
        "one token, so it hears nothing and sees nothing."
        for stage in stages[:-2]
        if stage.async_chunk
    ]
    if not all(stage.async_chunk for stage in stages[-2:]):
        numbers = _listed([stage.number for stage in stages[-2:]])
        doubts.append(
            f"async_chunk is off for stages {numbers}: sound comes only when all is made."
        )
    return doubts


def _voice_doubts(stages: Sequence[StagePlan]) -> list[str]:
    speak, sound = stages[-2:]
    if speak.model == sound.model:
        return []
    return [
        f"Stages {speak.number} and {sound.number} are two halves of one voice model, but name "
        f"{speak.model or 'none'} and {sound.model or 'none'}. Name the same one for both."
    ]


def _listed(names: Iterable[object]) -> str:
    *most, last = map(str, names)
    return f"{', '.join(most)} and {last}" if most else last
