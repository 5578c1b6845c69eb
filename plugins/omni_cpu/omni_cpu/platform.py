"""What vLLM-Omni asks of a platform, answered for the CPU."""

from __future__ import annotations

import psutil
import torch
from vllm.platforms.cpu import CpuPlatform
from vllm_omni.diffusion.attention.backends.registry import DiffusionAttentionBackendEnum
from vllm_omni.platforms.interface import OmniPlatform, OmniPlatformEnum


class CpuOmniPlatform(OmniPlatform, CpuPlatform):
    """vLLM's CPU platform with the questions that vLLM-Omni adds."""

    _omni_enum = OmniPlatformEnum.OOT

    # vLLM's own variable names NUMA nodes: with it, `devices: "1"` of a stage would ask for the
    # memory of a node that most machines lack. Here a device is no more than the name of a lock,
    # so stages on devices of their own start side by side.
    device_control_env_var = "OMNI_CPU_VISIBLE_DEVICES"

    @classmethod
    def get_omni_ar_worker_cls(cls) -> str:
        return "omni_cpu.worker.CpuARWorker"

    @classmethod
    def get_omni_generation_worker_cls(cls) -> str:
        return "omni_cpu.worker.CpuGenerationWorker"

    @classmethod
    def get_default_stage_config_path(cls) -> str:
        return "vllm_omni/deploy"

    @classmethod
    def get_diffusion_attn_backend_cls(
        cls,
        selected_backend: str | None,
        head_size: int,
        allow_trtllm_default: bool = False,
    ) -> str:
        del (
            head_size,
            allow_trtllm_default,
        )  # PyTorch's attention takes any head, and is all there is
        if selected_backend is not None:
            cls.validate_diffusion_attn_backend(selected_backend)
            return DiffusionAttentionBackendEnum[selected_backend.upper()].get_path()
        return DiffusionAttentionBackendEnum.TORCH_SDPA.get_path()

    @classmethod
    def supports_torch_inductor(cls) -> bool:
        return False

    @classmethod
    def supports_talker_mtp_graph_capture(cls) -> bool:
        return False

    @classmethod
    def get_torch_device(cls, local_rank: int | None = None) -> torch.device:
        del local_rank
        return torch.device("cpu")

    @classmethod
    def get_device_count(cls) -> int:
        return 1

    @classmethod
    def get_device_version(cls) -> str | None:
        return None

    @classmethod
    def synchronize(cls) -> None:
        """Nothing runs behind the caller's back on a CPU."""

    @classmethod
    def get_free_memory(cls, device: torch.device | None = None) -> int:
        return cls.get_device_memory(device)[0]

    @classmethod
    def get_device_memory(cls, device: torch.device | None = None) -> tuple[int, int]:
        del device
        memory = psutil.virtual_memory()
        return memory.available, memory.total
