"""Starts and stops the pipeline's processes."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import logging
import os
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.contract.engine import Progress
from backend.engines.omni.checkpoint import read_checkpoint
from backend.engines.omni.children import end_children
from backend.engines.omni.doctor.deploy_file import ProfileProblem, read_deploy_file
from backend.engines.omni.doctor.profile import Profile, read_profile
from backend.engines.omni.doctor.stage_plan import MIMO, PIPELINES
from backend.engines.omni.mimo import audio_tokenizer
from backend.engines.omni.mimo.pieces import in_pieces_of, piece_s
from backend.engines.omni.mimo.pipeline import MimoPipeline
from backend.engines.omni.pipeline import Pipeline
from backend.engines.omni.sampling import Overrides, stage_params
from backend.engines.omni.speech_pipeline import SpeechPipeline

if TYPE_CHECKING:
    from backend.engines.omni.staged import StagedOmni

_log = logging.getLogger(__name__)

_TELL_EVERY_S = 1.0
_STOP_TIMEOUT_S = 4.0
_ENVIRONMENT = {
    "VLLM_OMNI_EVENT_DRIVEN_ORCH": "1",  # outputs are handed on as they come, not every ms
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "WARNING",
}

_ONE_START = threading.Lock()
"""Held by whatever starts stages: a start that was given up goes on, and takes memory, to its end.
"""


class LaunchFailed(Exception):  # noqa: N818 - reads as the event that it reports
    """The pipeline could not be started."""


@dataclass(slots=True)
class Launch:
    """How to start one pipeline.

    Attributes:
        deploy_config: The deploy file.
        models: Models to run instead of the file's, by stage number.
        sampling: Sampling parameters to change, by stage name.
        tokenizer: Folder or hub name of MiMo-Audio's audio tokenizer, instead of the file's.
        sound_groups: Groups of 160 ms of sound that MiMo-Audio makes at a time, instead of the
            file's; 0 for those.
        stage_timeout_s: Seconds that one stage may take to start.
        log_stats: Whether vLLM-Omni logs its own statistics.
    """

    deploy_config: Path
    models: Mapping[int, str] = field(default_factory=dict)
    sampling: Overrides = field(default_factory=dict)
    stage_timeout_s: int = 900
    log_stats: bool = False
    tokenizer: str = ""
    sound_groups: int = 0
    _starting: asyncio.Task[StagedOmni] | None = None
    _given_up: bool = False
    _profile: Profile | None = None

    async def start(self, progress: Progress) -> StagedOmni:
        """Start the stages' processes and load their models.

        Raises:
            LaunchFailed: vLLM-Omni or the deploy file is not there, or a stage did not start.
        """
        if importlib.util.find_spec("vllm_omni") is None:
            text = "vLLM-Omni is not installed. See requirements.txt for a GPU."
            raise LaunchFailed(text)
        try:
            profile = read_profile(self.deploy_config).with_models(self.models)
        except ProfileProblem as problem:
            raise LaunchFailed(str(problem)) from problem
        for doubt in profile.doubts:
            _log.warning("%s: %s", self.deploy_config, doubt)
        self._profile = profile
        started = time.monotonic()
        self._starting = asyncio.create_task(asyncio.to_thread(self._make, profile))
        while not self._starting.done():
            seconds = time.monotonic() - started
            # Stages tell nothing of how far they are; the share only shows that time passes.
            progress(0.9 * seconds / (seconds + 120), f"Starting the stages ({seconds:.0f} s)")
            await asyncio.wait({self._starting}, timeout=_TELL_EVERY_S)
        try:
            return self._starting.result()
        except Exception as error:
            reason = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
            raise LaunchFailed(f"The pipeline did not start: {reason}") from error

    def pipeline(self, omni: StagedOmni) -> SpeechPipeline | MimoPipeline:
        """The running pipeline with the parameters of this launch: a ``Pipeline`` for AURA."""
        configs = [config.model_config for config in omni.engine.stage_vllm_configs]
        defaults = omni.default_sampling_params_list
        if self._profile is not None and self._profile.pipeline == MIMO:
            names = [role.value for role in PIPELINES[MIMO]]
            params = stage_params(defaults, self.sampling, names)
            return MimoPipeline(
                omni,
                params,
                context=int(configs[0].max_model_len),
                thinking=self.sampling.get(names[0]),
                piece_s=piece_s(read_deploy_file(self.deploy_config)[0], self.sound_groups),
            )
        talker = configs[-2]
        checkpoint = read_checkpoint(str(talker.model), talker.hf_config)
        params = stage_params(defaults, self.sampling)
        if len(configs) == len(PIPELINES["qwen3_tts"]):
            return SpeechPipeline(omni, checkpoint, params)
        return Pipeline(omni, checkpoint, params, context=int(configs[1].max_model_len))

    async def stop(self, omni: StagedOmni | None) -> None:
        """End the processes; a start under way is broken off, or at its end."""
        self._given_up = True
        starting, self._starting = self._starting, None
        if starting is not None:  # that it was given up concerns nobody any more
            starting.add_done_callback(lambda task: task.cancelled() or task.exception())
        if omni is None and starting is not None:
            if not starting.done():
                await asyncio.to_thread(end_children)
            with suppress(Exception):
                omni = await asyncio.wait_for(asyncio.shield(starting), _STOP_TIMEOUT_S)
        if omni is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.to_thread(omni.shutdown), _STOP_TIMEOUT_S)
        await asyncio.to_thread(end_children)
        if omni is not None:
            await asyncio.to_thread(omni.sweep)
        if self._profile is not None and self._profile.pipeline == MIMO:
            await asyncio.to_thread(_forget_tokenizer)

    def _make(self, profile: Profile) -> Any:
        with _ONE_START:
            omni = None if self._given_up else self._start_stages(profile)
            if self._given_up:
                if omni is not None:
                    omni.shutdown()
                raise LaunchFailed("It was given up.")
            return omni

    def _start_stages(self, profile: Profile) -> Any:
        for name, value in _ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        audio_tokenizer.forget()
        if profile.pipeline == MIMO:
            audio_tokenizer.set_up(self.tokenizer or profile.tokenizer, profile.tokenizer_device)
        from backend.engines.omni.staged import StagedOmni

        with tempfile.TemporaryDirectory() as folder:
            return StagedOmni(
                model=profile.model,
                deploy_config=str(self.deploy_file(Path(folder))),
                stage_init_timeout=self.stage_timeout_s,
                init_timeout=4 * self.stage_timeout_s,
                log_stats=self.log_stats,
            )

    def deploy_file(self, folder: Path) -> Path:
        """The deploy file, or one that builds on it with what was asked for instead."""
        changes: dict[str, Any] = {}
        if self.models:
            stages = [{"stage_id": stage, "model": model} for stage, model in self.models.items()]
            changes["stages"] = stages
        if self.sound_groups:
            own, _ = read_deploy_file(self.deploy_config)
            changes["connectors"] = in_pieces_of(self.sound_groups, own)
        if not changes:
            return self.deploy_config
        deploy = folder / "deploy.json"  # JSON is YAML too
        changes["base_config"] = str(self.deploy_config.resolve())
        deploy.write_text(json.dumps(changes), encoding="utf-8")
        return deploy


def _forget_tokenizer() -> None:
    """Free the tokenizer's copy, unless a start is under way: that has done it, or needs it."""
    if _ONE_START.acquire(blocking=False):
        try:
            audio_tokenizer.forget()
        finally:
            _ONE_START.release()
