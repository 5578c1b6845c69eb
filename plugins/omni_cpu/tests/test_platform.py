"""What the platform answers, without an engine."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest
import torch
import vllm.platforms
from omni_cpu import platform
from omni_cpu.cuda import answer_for_absent_cuda
from omni_cpu.platform import CpuOmniPlatform
from omni_cpu.runner import CpuARModelRunner, CpuGenerationModelRunner
from vllm.platforms.cpu import CpuPlatform
from vllm.platforms.interface import UnspecifiedPlatform
from vllm.utils.import_utils import resolve_obj_by_qualname
from vllm.v1.worker.cpu_worker import CPUWorker
from vllm_omni.platforms import current_omni_platform, resolve_current_omni_platform_cls_qualname
from vllm_omni.platforms.interface import OmniPlatform


class Accelerator(CpuPlatform):
    """Any platform that is not the CPU."""

    def is_cpu(self) -> bool:
        return False


def test_entry_point_is_found() -> None:
    (entry,) = entry_points(group="vllm_omni.platform_plugins", name="omni_cpu")
    assert entry.load() is platform


def test_platform_is_chosen_without_an_accelerator() -> None:
    assert isinstance(vllm.platforms.current_platform, CpuPlatform)
    assert resolve_current_omni_platform_cls_qualname() == "omni_cpu.platform.CpuOmniPlatform"
    assert isinstance(current_omni_platform, CpuOmniPlatform)


@pytest.mark.parametrize("found", [Accelerator(), UnspecifiedPlatform()])
def test_platform_stays_away_from_others(monkeypatch, found) -> None:
    monkeypatch.setattr(vllm.platforms, "_current_platform", found)
    assert platform() is None


@pytest.mark.parametrize(
    ("name", "runner"),
    [
        (CpuOmniPlatform.get_omni_ar_worker_cls(), CpuARModelRunner),
        (CpuOmniPlatform.get_omni_generation_worker_cls(), CpuGenerationModelRunner),
    ],
)
def test_workers_can_be_imported(name: str, runner: type) -> None:
    worker = resolve_obj_by_qualname(name)
    assert issubclass(worker, CPUWorker)
    assert worker.model_runner_cls is runner


def test_devices_of_a_stage_are_not_numa_nodes() -> None:
    assert CpuOmniPlatform.device_control_env_var != CpuPlatform.device_control_env_var


def test_every_question_is_answered() -> None:
    asked = {"get_default_stage_config_path", "get_device_version", "synchronize"}
    asked |= {"supports_torch_inductor", "supports_talker_mtp_graph_capture", "get_device_count"}
    for question in asked:
        assert question in vars(CpuOmniPlatform), question
    assert issubclass(CpuOmniPlatform, OmniPlatform)
    assert CpuOmniPlatform.get_torch_device(3) == torch.device("cpu")
    free, total = CpuOmniPlatform.get_device_memory()
    assert 0 < free <= total


@pytest.mark.parametrize("chosen", [None, "torch_sdpa"])
def test_diffusion_uses_the_attention_of_pytorch(chosen: str | None) -> None:
    assert CpuOmniPlatform.get_diffusion_attn_backend_cls(chosen, 64).endswith("SDPABackend")


def test_models_may_ask_about_cuda_graphs() -> None:
    answer_for_absent_cuda()
    assert torch.cuda.is_current_stream_capturing() is False
