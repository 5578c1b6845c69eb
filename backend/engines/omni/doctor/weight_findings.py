"""Which weights have to be fetched, by which command, and whether the disk holds them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from backend.engines.omni.doctor.machine import Machine
from backend.engines.omni.doctor.models import facts_of, is_known
from backend.engines.omni.doctor.profile import Profile
from backend.engines.omni.doctor.report import Finding, Level
from backend.engines.omni.doctor.weights import Weights, find_weights, hub_cache

GB = 10**9
_TRUE = {"1", "ON", "YES", "TRUE"}
_SHOWN = 3


def look_up_weights(profile: Profile, machine: Machine) -> dict[str, Weights]:
    """What of each model is on disk; models that load random weights are left out."""
    models = dict.fromkeys(stage.model for stage in profile.stages if not stage.dummy)
    return {model: find_weights(model, machine) for model in models if model}


def weight_findings(
    profile: Profile, found: Mapping[str, Weights], machine: Machine
) -> Iterator[Finding]:
    """What is there and what is not."""
    for stage in profile.stages:
        if not stage.model:
            yield Finding(Level.TO_DO, f"The deploy file names no model for stage {stage.number}.")
    for weights in found.values():
        yield _finding(weights, machine)
    missing = [w for w in found.values() if not w.complete and not w.is_path]
    if missing:
        yield _room(profile, missing, machine)


def _finding(weights: Weights, machine: Machine) -> Finding:
    if weights.complete:
        size = (weights.weights_bytes + weights.codec_bytes) / GB
        return Finding(Level.OK, f"{weights.model} is on disk ({size:.1f} GB).")
    if weights.is_path and weights.folder is None:
        return Finding(Level.TO_DO, f"There is no folder {weights.model}.")
    some = ", ".join(weights.lacking[:_SHOWN])
    more = f" and {len(weights.lacking) - _SHOWN} more" if len(weights.lacking) > _SHOWN else ""
    lacking = f"is not complete: {some}{more} missing" if weights.lacking else "is not on disk"
    if weights.is_path:
        return Finding(Level.TO_DO, f"{weights.model} {lacking}.")
    return Finding(
        Level.TO_DO, f"{weights.model} {lacking}.", download_command(weights.model, machine)
    )


def download_command(model: str, machine: Machine) -> str:
    """What to type to fetch a model from the hub."""
    offline = machine.environ.get("HF_HUB_OFFLINE", "").upper() in _TRUE
    return f"{'HF_HUB_OFFLINE=0 ' if offline else ''}hf download {shlex.quote(model)}"


def _room(profile: Profile, missing: list[Weights], machine: Machine) -> Finding:
    stages = {stage.model: stage for stage in profile.stages}
    size = sum(facts_of(stages[w.model]).download_gb for w in missing)
    guessed = any(not is_known(w.model) for w in missing)
    cache = hub_cache(machine)
    free = machine.free_bytes(cache) / GB
    need = f"The downloads are {'roughly' if guessed else 'about'} {size:.0f} GB"
    if free < size:
        text = f"{need}, and {cache} has {free:.0f} GB free. Set HF_HOME to a larger disk."
        return Finding(Level.TO_DO, text)
    return Finding(Level.NOTE, f"{need}; {cache} has {free:.0f} GB free.")
