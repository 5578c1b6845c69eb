"""vLLM-Omni's workers, on vLLM's worker for the CPU."""

from __future__ import annotations

from typing import ClassVar

from vllm.config import VllmConfig
from vllm.v1.worker.cpu_worker import CPUWorker
from vllm_omni.worker.mixins import OmniWorkerMixin

from omni_cpu import random_weights  # noqa: F401  registers itself
from omni_cpu.cuda import answer_for_absent_cuda
from omni_cpu.runner import CpuARModelRunner, CpuGenerationModelRunner

KV_CACHE_BYTES = 1 << 30
"""Room for the KV cache of a stage that names none."""


class _CpuWorker(OmniWorkerMixin, CPUWorker):
    model_runner_cls: ClassVar[type[CpuARModelRunner | CpuGenerationModelRunner]]

    def __init__(self, vllm_config: VllmConfig, *args: object, **kwargs: object) -> None:
        # vLLM would take its share of the memory of the whole machine, for every stage.
        if vllm_config.cache_config.kv_cache_memory_bytes is None:
            vllm_config.cache_config.kv_cache_memory_bytes = KV_CACHE_BYTES
        super().__init__(vllm_config, *args, **kwargs)

    def init_device(self) -> None:
        answer_for_absent_cuda()
        # The second generation of runners lacks what vLLM-Omni hooks into.
        self.use_v2_model_runner = False
        super().init_device()
        # vLLM names the class of its runner in the middle of this method, so one is made in vain.
        self.model_runner = self.model_runner_cls(self.vllm_config, self.device)


class CpuARWorker(_CpuWorker):
    """Works for a stage that writes token by token."""

    model_runner_cls = CpuARModelRunner


class CpuGenerationWorker(_CpuWorker):
    """Works for a stage that answers in one forward pass."""

    model_runner_cls = CpuGenerationModelRunner
