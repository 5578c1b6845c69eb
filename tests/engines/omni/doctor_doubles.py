"""A machine for the doctor: cards, packages, disk and cache as a test wants them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from backend.engines.omni.doctor.machine import CommandFailed, Machine

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
GB = 10**9

L4 = "GPU-4, NVIDIA L4, 23034, 22600, 580.95.05, 8.9"
RTX_4090 = "GPU-5, NVIDIA GeForce RTX 4090, 24564, 24080, 580.95.05, 8.9"
RTX_3090 = "GPU-3, NVIDIA GeForce RTX 3090, 24576, 24200, 580.95.05, 8.6"
H100 = "GPU-8, NVIDIA H100 80GB HBM3, 81559, 81000, 580.95.05, 9.0"


def machine(
    *cards: str,
    home: Path = Path("/nowhere"),
    packages: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    free_bytes: int = 500 * GB,
    failure: str = "nvidia-smi is not installed",
) -> Machine:
    """A machine with these lines of ``nvidia-smi``; without any, it fails as told.

    ``packages`` are all that are installed; none stands for everything that is required.
    """

    def run(command: Sequence[str]) -> str:
        assert command[0] == "nvidia-smi"
        if not cards:
            raise CommandFailed(failure)
        return "\n".join(cards) + "\n"

    return Machine(
        run=run,
        version_of=(required() if packages is None else packages).get,
        free_bytes=lambda path: free_bytes,
        environ=environ or {},
        home=home,
        python="/env/bin/python",
    )


def required() -> dict[str, str]:
    """Every package of requirements.txt, as it is wanted, and what vLLM brings."""
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if "==" in line and not line.startswith("#"))
    return pins | {"flashinfer-python": "1"}


def put_model(cache: Path, model: str, size: int = 1000, *, codec: int = 0) -> Path:
    """A model in a Hugging Face cache, with weight files of these sizes."""
    repo = cache / f"models--{model.replace('/', '--')}"
    folder = repo / "snapshots" / "abc"
    folder.mkdir(parents=True)
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text("abc")
    (folder / "config.json").write_text("{}")
    write_sparse(folder / "model.safetensors", size)
    if codec:
        (folder / "speech_tokenizer").mkdir()
        write_sparse(folder / "speech_tokenizer" / "model.safetensors", codec)
    return folder


def put_aura(cache: Path) -> None:
    """The three models of aura_omni.yaml, in their sizes."""
    put_model(cache, "Qwen/Qwen3-ASR-1.7B", 4 * GB)
    put_model(cache, "aurateam/AURA", 17_534_000_000)
    put_model(cache, "Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice", 3_830_000_000, codec=682_000_000)


def write_sparse(path: Path, size: int) -> None:
    """A file of this size that takes no room."""
    with path.open("wb") as file:
        file.truncate(size)
