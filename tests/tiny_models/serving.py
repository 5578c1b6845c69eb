"""vLLM-Omni's own server on a CPU, with tiny random models: live sessions, or texts spoken."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.serving import free_port
from tests.tiny_models.deploy import write_aura_deploy, write_aura_models, write_speech_deploy
from tests.tiny_models.folders import write_tts

# What the `vllm` command does, with the stages' imports begun first.
_VLLM = "import omni_cpu; omni_cpu.prepare(); from vllm.entrypoints.cli.main import main; main()"
_START_TIMEOUT_S = 600
_STOP_TIMEOUT_S = 30


@dataclass
class Served:
    """A running server: its address, and its processes to be stopped."""

    url: str
    process: subprocess.Popen[bytes]

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End the server and all of its stages."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, how)
        try:
            self.process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@contextmanager
def serve_aura(folder: Path, **deploy: int) -> Iterator[Served]:
    """Yield a server that answers /health; it may still be warming up.

    Args:
        folder: Where models, deploy file and log go.
        deploy: Arguments of ``write_aura_deploy``.
    """
    models = write_aura_models(folder)
    config = write_aura_deploy(folder / "duplex.yaml", models, **({"max_sessions": 1} | deploy))
    tokenizer = {"VLLM_AURA_TTS_TOKENIZER": str(models.tts)}
    with _serve(folder, models.aura, config, **tokenizer) as served:
        yield served


@contextmanager
def serve_speech(folder: Path) -> Iterator[Served]:
    """Yield a server that speaks texts in copied voices; see ``serve_aura``."""
    tts = write_tts(folder / "tts", "Base")
    with _serve(folder, tts, write_speech_deploy(folder / "speech.yaml", tts, ends=True)) as served:
        yield served


@contextmanager
def _serve(folder: Path, model: Path, config: Path, **environment: str) -> Iterator[Served]:
    port = free_port()
    command = [sys.executable, "-c", _VLLM, "serve", str(model), "--omni"]
    command += ["--deploy-config", str(config), "--host", "127.0.0.1", "--port", str(port)]
    about = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env=os.environ | about | environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        served = Served(f"http://127.0.0.1:{port}", process)
        try:
            _wait_for(served, log)
            yield served
        finally:
            served.stop()


def _wait_for(served: Served, log: Path) -> None:
    deadline = time.monotonic() + _START_TIMEOUT_S
    while time.monotonic() < deadline:
        assert served.process.poll() is None, log.read_text(errors="replace")[-4000:]
        try:
            if httpx.get(f"{served.url}/health", timeout=2).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.5)
    raise AssertionError(log.read_text(errors="replace")[-4000:])
