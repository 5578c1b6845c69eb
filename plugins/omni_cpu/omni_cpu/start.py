"""Starting the stages without importing everything once per stage.

The imports of one stage take about half a minute of a core, far more than a small model does.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from multiprocessing import context, forkserver, get_context
from typing import TypeVar

from vllm.model_executor.models import registry
from vllm.utils import system_utils

_T = TypeVar("_T")


class _StageProcess(context.ForkServerProcess):
    """A process that starts with its parent's environment, as a spawned one would.

    The server that it is forked from keeps the environment of its own start, and every stage may
    name variables of its own.
    """

    _environment: dict[str, str]

    def start(self) -> None:
        self._environment = dict(os.environ)
        super().start()

    def run(self) -> None:
        os.environ.clear()
        os.environ.update(self._environment)
        super().run()


class _StageContext(context.ForkServerContext):
    Process = _StageProcess  # type: ignore[assignment]


def fork_stages() -> None:
    """Fork the stages from one process that has done their imports, in place of spawning them.

    That process only imports: it has no threads and no open devices, so a copy of it is sound.
    """
    stages = _StageContext()
    stages.set_forkserver_preload(["omni_cpu.preload"])
    system_utils.get_mp_context = lambda: stages


def prepare() -> None:
    """Begin with the imports of the stages now, beside those of the caller.

    Call it first thing in a program that will start an engine. It returns at once.
    """
    get_context("forkserver").set_forkserver_preload(["omni_cpu.preload"])
    forkserver.ensure_running()


def inspect_models_here() -> None:
    """Look at model classes in this process.

    vLLM does that in processes of their own, one per class, lest it open a GPU.
    """

    def run_here(look: Callable[[], _T]) -> _T:
        return look()

    registry._run_in_subprocess = run_here
