"""The CPU as a platform of vLLM-Omni, for machines without an accelerator."""

from __future__ import annotations

import os


def platform() -> str | None:
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

    # vLLM would start a second process per stage, to tie its threads to cores of their own. Where
    # the stages share a few cores that gains nothing, and costs a second round of imports each.
    os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
    start.inspect_models_here()
    start.fork_stages()
    return "omni_cpu.platform.CpuOmniPlatform"
