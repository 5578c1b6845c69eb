"""Several pipelines to choose from, of which one runs at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import Field, field_validator, model_validator
from pydantic_settings import BaseSettings

from backend.addresses import is_server

_ALONE = {"engine", "url", "deploy_config", "models", "sampling"}
"""Settings that say what runs where there is but one."""


class PipelineSettings(BaseSettings):
    """What of the settings is about choosing."""

    pipelines: dict[str, str] = Field(
        default_factory=dict,
        description="In place of --engine, several to choose from under Settings, as JSON by name:"
        " each a deploy file of the omni engine, embedded, or the address of a server:"
        ' {"AURA": "deploy/aura_80gb.yaml", "Small": "embedded"}. One is loaded at a time.',
    )
    pipeline: str = Field("", description="Which of these to begin with; empty for the first.")
    allow_switching: bool | None = Field(
        None,
        description="Whether whoever reaches the app may change the pipeline, which is everybody's."
        " Left out, only where it listens on this machine and has no --root-path: say false behind"
        " any other proxy.",
    )

    def of_pipeline(self, name: str = "") -> Self:
        """The same as if this pipeline, without a name the one to begin with, were the only one."""
        if not self.pipelines:
            return self
        runs = self.pipelines[name or self.pipeline or next(iter(self.pipelines))]
        changes: dict[str, object] = {"engine": "embedded", "pipelines": {}}
        if "://" in runs:
            changes |= {"engine": "remote", "url": runs}
        elif runs != "embedded":
            changes |= {"engine": "omni", "deploy_config": Path(runs)}
        return self.model_copy(update=changes)

    @field_validator("pipelines")
    @classmethod
    def _can_be_run(cls, pipelines: dict[str, str]) -> dict[str, str]:
        for name, runs in pipelines.items():
            if not name.strip():
                raise ValueError("each pipeline needs a name")
            if not (runs == "embedded" or is_server(runs) or Path(runs).is_file()):
                raise ValueError(
                    f"{name} is to run {runs!r}, which is neither a deploy file that is there, nor"
                    " embedded, nor the address of a server such as http://host:8091"
                )
        return pipelines

    @model_validator(mode="after")
    def _pipelines_say_all(self) -> Self:
        if self.pipeline and self.pipeline not in self.pipelines:
            names = ", ".join(self.pipelines) or "there are none"
            raise ValueError(f"--pipeline {self.pipeline} is none of --pipelines: {names}")
        alone = _ALONE & self.model_fields_set
        if self.pipelines and alone:
            names = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(alone))
            raise ValueError(f"--pipelines says what runs, so leave out {names}")
        return self
