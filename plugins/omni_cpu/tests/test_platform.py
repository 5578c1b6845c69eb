"""What the platform answers, without an engine."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import psutil
import pytest
import torch
import vllm.platforms
import vllm_omni  # noqa: F401 - finds the platform, so it has to come before it
from omni_cpu import activate
from omni_cpu.cuda import answer_for_absent_cuda
from omni_cpu.platform import CpuOmniPlatform
from omni_cpu.runner import CpuARModelRunner, CpuGenerationModelRunner
from vllm.config.load import LoadConfig
from vllm.model_executor.model_loader import get_model_loader
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
    assert entry.load() is activate


def test_platform_is_chosen_without_an_accelerator() -> None:
    assert isinstance(vllm.platforms.current_platform, CpuPlatform)
    assert resolve_current_omni_platform_cls_qualname() == "omni_cpu.platform.CpuOmniPlatform"
    assert isinstance(current_omni_platform, CpuOmniPlatform)


@pytest.mark.parametrize("found", [Accelerator(), UnspecifiedPlatform()])
def test_platform_stays_away_from_others(monkeypatch, found) -> None:
    monkeypatch.setattr(vllm.platforms, "_current_platform", found)
    assert activate() is None


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


def test_stages_are_forked_from_one_process() -> None:
    from vllm_omni.engine import stage_engine_core_proc_manager

    assert stage_engine_core_proc_manager.get_mp_context().get_start_method() == "forkserver"


PROGRAM = """
import os, time
from omni_cpu import start

def report():
    print(os.getpid(), os.environ.get("OMNI_CPU_TEST"), flush=True)
    time.sleep(600)

if __name__ == "__main__":
    stages = start.stage_context([])
    first = stages.Process(target=os.getpid)  # starts what all are forked from
    first.start()
    first.join()
    os.environ["OMNI_CPU_TEST"] = "set"
    stages.Process(target=report).start()
    time.sleep(600)
"""


def test_stage_has_the_environment_of_the_program_and_ends_with_it(tmp_path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    command = [sys.executable, str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:  # noqa: S603
        pid, variable = program.stdout.readline().split()
        program.kill()
    assert variable == "set"
    psutil.Process(int(pid)).wait(timeout=20)


@pytest.mark.parametrize("kind", ["Conv1d", "Linear"])
def test_random_weights_keep_a_signal_alive(kind: str) -> None:
    layer = {"Conv1d": torch.nn.Conv1d(64, 64, 7), "Linear": torch.nn.Linear(64, 64)}[kind]
    get_model_loader(LoadConfig(load_format="random")).load_weights(layer, None)
    assert layer.weight.std().item() == pytest.approx(
        (2 * layer.weight[0].numel()) ** -0.5, rel=0.1
    )
    assert not layer.bias.any()


def test_models_may_ask_about_cuda_graphs() -> None:
    answer_for_absent_cuda()
    assert torch.cuda.is_current_stream_capturing() is False
