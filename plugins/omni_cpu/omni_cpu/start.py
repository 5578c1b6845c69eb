"""Starting the stages without importing everything once per stage.

The imports of one stage take about half a minute of a core, far more than a small model does.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from multiprocessing import context, parent_process
from threading import Thread
from typing import TypeVar

_T = TypeVar("_T")


class _StageProcess(context.ForkServerProcess):
    """A process that begins and ends as a spawned one would.

    The server that it is forked from keeps the environment of its own start, while every stage may
    name variables of its own; and the server, not the program, is what the system takes for its
    parent, so that vLLM-Omni's request to be ended with its parent has no effect.
    """

    _environment: dict[str, str]

    def start(self) -> None:
        self._environment = dict(os.environ)
        super().start()

    def run(self) -> None:
        os.environ.clear()
        os.environ.update(self._environment)
        Thread(target=_end_with_the_program, daemon=True).start()
        super().run()


def _end_with_the_program() -> None:
    program = parent_process()
    if program is not None:
        program.join()
        os.kill(os.getpid(), signal.SIGTERM)


class _StageContext(context.ForkServerContext):
    Process = _StageProcess


def fork_stages() -> None:
    """Fork the stages from one process that has done their imports, in place of spawning them.

    That process only imports: it has no threads of its own and no open devices, so that a copy of
    it is sound.
    """
    from vllm.utils import system_utils

    stages = stage_context(["omni_cpu.preload"])
    system_utils.get_mp_context = lambda: stages


def stage_context(imports: list[str]) -> context.ForkServerContext:
    """Where stages come from.

    Args:
        imports: The modules that the process they are forked from has imported.
    """
    stages = _StageContext()
    stages.set_forkserver_preload(imports)
    return stages


def inspect_models_here() -> None:
    """Look at model classes in this process.

    vLLM does that in a process of its own for each class that it meets for the first time, lest
    it open a GPU.
    """
    from vllm.model_executor.models import registry

    def run_here(look: Callable[[], _T]) -> _T:
        return look()

    registry._run_in_subprocess = run_here
