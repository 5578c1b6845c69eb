"""Which weights are on this disk, in a folder or in the Hugging Face cache."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from backend.engines.omni.doctor.machine import Machine

CODEC = "speech_tokenizer"
"""Subfolder of a Qwen3-TTS model with what the sound stage loads."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What of a model is on disk.

    Attributes:
        model: Hub name or folder.
        folder: Where it is, or none.
        weights_bytes: Size of its own weight files.
        codec_bytes: Size of the weight files of its codec; 0 for models without one.
        lacking: Files that ought to be there and are not.
        is_path: Whether ``model`` is a folder of this machine rather than a hub name.
    """

    model: str
    folder: Path | None = None
    weights_bytes: int = 0
    codec_bytes: int = 0
    lacking: tuple[str, ...] = ()
    is_path: bool = False

    @property
    def complete(self) -> bool:
        """Nothing has to be fetched."""
        return self.folder is not None and not self.lacking


def hub_cache(machine: Machine) -> Path:
    """Where ``huggingface_hub`` keeps models."""
    environ = machine.environ
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if environ.get(name):
            return Path(environ[name]).expanduser()
    if environ.get("HF_HOME"):
        return Path(environ["HF_HOME"]).expanduser() / "hub"
    caches = Path(environ.get("XDG_CACHE_HOME") or machine.home / ".cache").expanduser()
    return caches / "huggingface" / "hub"


def find_weights(model: str, machine: Machine) -> Weights:
    """Look for a model by hub name or folder; nothing is fetched."""
    try:
        return _find(model, machine)
    except OSError:  # what cannot be read is not there for the engine either
        return Weights(model)


def _find(model: str, machine: Machine) -> Weights:
    path = Path(model).expanduser()
    if path.is_absolute() or model.startswith((".", "~")) or path.is_dir():
        there = path.is_dir()
        return _inspect(model, path, is_path=True) if there else Weights(model, is_path=True)
    repo = hub_cache(machine) / f"models--{model.replace('/', '--')}"
    snapshot = _snapshot(repo)
    return _inspect(model, snapshot, is_path=False) if snapshot else Weights(model)


def _snapshot(repo: Path) -> Path | None:
    ref = repo / "refs" / "main"
    if ref.is_file():
        snapshot = repo / "snapshots" / ref.read_text(encoding="utf-8").strip()
        return snapshot if snapshot.is_dir() else None
    snapshots = sorted((repo / "snapshots").glob("*"), key=lambda p: p.stat().st_mtime)
    return snapshots[-1] if snapshots else None


def _inspect(model: str, folder: Path, *, is_path: bool) -> Weights:
    lacking = [] if (folder / "config.json").is_file() else ["config.json"]
    lacking += _lacking_weights(folder)
    if "TTS" in model.upper() or (folder / CODEC).is_dir():
        lacking += [f"{CODEC}/{name}" for name in _lacking_weights(folder / CODEC)]
    return Weights(
        model, folder, _size(folder), _size(folder / CODEC), tuple(lacking), is_path=is_path
    )


def _lacking_weights(folder: Path) -> list[str]:
    index = folder / "model.safetensors.index.json"
    try:
        named = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return [] if _size(folder) else ["*.safetensors"]
    return sorted(name for name in named if not (folder / name).is_file())


def _size(folder: Path) -> int:
    """Bytes of the weight files; in the cache they are links, which may lead nowhere."""
    return sum(file.stat().st_size for file in folder.glob("*.safetensors") if file.is_file())
