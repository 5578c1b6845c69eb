"""vLLM-Omni's model runners, on vLLM's runner for the CPU."""

from __future__ import annotations

import torch
from vllm.v1.utils import CpuGpuBuffer
from vllm.v1.worker.cpu_model_runner import CPUModelRunner
from vllm_omni.worker.gpu_ar_model_runner import GPUARModelRunner
from vllm_omni.worker.gpu_generation_model_runner import GPUGenerationModelRunner


class _OnCpu(CPUModelRunner):
    def _make_buffer(
        self, *size: int | torch.SymInt, dtype: torch.dtype, numpy: bool = True
    ) -> CpuGpuBuffer:
        # vLLM joins the two halves of its buffers once, when it has made its own. vLLM-Omni
        # makes more of them later.
        buffer = super()._make_buffer(*size, dtype=dtype, numpy=numpy)
        buffer.gpu = buffer.cpu
        return buffer

    def load_model(self, *args: object, **kwargs: object) -> None:
        # vLLM leaves this open where there are no graphs; the talker sizes its buffers by it.
        if self.compilation_config.max_cudagraph_capture_size is None:
            self.compilation_config.max_cudagraph_capture_size = 0
        super().load_model(*args, **kwargs)


class CpuARModelRunner(GPUARModelRunner, _OnCpu):
    """Stages that write token by token."""


class CpuGenerationModelRunner(GPUGenerationModelRunner, _OnCpu):
    """Stages that answer in one forward pass, such as the decoder from codec frames to sound."""
