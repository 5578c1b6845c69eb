"""What MiMo-Audio needs beside its model: its audio tokenizer, and flash-attn on a card."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence

from backend.engines.omni.doctor.cards import Card
from backend.engines.omni.doctor.machine import Machine
from backend.engines.omni.doctor.profile import Profile
from backend.engines.omni.doctor.report import Finding, Level
from backend.engines.omni.doctor.stage_plan import MIMO, TOKENIZER_DEVICE
from backend.engines.omni.doctor.tokenizer_copies import COPY_GIB, TokenizerCopy, tokenizer_copies
from backend.engines.omni.doctor.weight_findings import GB, download_command
from backend.engines.omni.doctor.weights import Weights, find_weights

TOKENIZER = "XiaomiMiMo/MiMo-Audio-Tokenizer"
_TOKENIZER_GB = 5.2
"""At most: 1.28 billion numbers of 4 bytes."""


def mimo_findings(
    profile: Profile, weights: Mapping[str, Weights], machine: Machine, cards: Sequence[Card]
) -> Iterator[Finding]:
    """What to know and to do for MiMo-Audio; nothing for other pipelines."""
    if profile.pipeline != MIMO:
        return
    yield _tokenizer(profile.tokenizer, machine)
    copies = tokenizer_copies(profile)
    yield Finding(Level.NOTE, _where(copies))
    yield from _wrong_cards(profile)
    if cards and any(copy.card is not None for copy in copies):
        yield from _flash_attention(machine)
    yield from _positions(profile, weights)


def _tokenizer(name: str, machine: Machine) -> Finding:
    if not name:
        text = (
            "MiMo-Audio needs its audio tokenizer, which the deploy file does not name. Add it as"
            f" omni_live: {{tokenizer: {TOKENIZER}}}, or name a folder there."
        )
        return Finding(Level.TO_DO, text, download_command(TOKENIZER, machine))
    found = find_weights(name, machine)
    if found.complete:
        size = found.weights_bytes / GB
        text = f"The audio tokenizer is on disk: {found.folder} ({size:.1f} GB)."
        return Finding(Level.OK, text)
    if found.is_path:
        lacking = f": {', '.join(found.lacking)} missing" if found.folder else ""
        problem = "is not complete" if found.folder else "is not a folder of this machine"
        text = f"The audio tokenizer {name} {problem}{lacking}. Fetch it, and name the folder:"
        command = f"{download_command(TOKENIZER, machine)} --local-dir {shlex.quote(name)}"
        return Finding(Level.TO_DO, text, command)
    text = f"The audio tokenizer {name} is not on disk (at most {_TOKENIZER_GB} GB)."
    return Finding(Level.TO_DO, text, download_command(name, machine))


def _where(copies: Sequence[TokenizerCopy]) -> str:
    places = [
        f"{copy.holder} on {'the CPU' if copy.card is None else f'card {copy.card}'}"
        for copy in copies
    ]
    return (
        f"Each process loads a copy of the audio tokenizer: {', '.join(places)}. On a card it takes"
        f" {COPY_GIB} GiB, on the CPU {2 * COPY_GIB} GiB of memory."
    )


def _wrong_cards(profile: Profile) -> Iterator[Finding]:
    for stage in profile.stages:
        device = stage.tokenizer_device or profile.tokenizer_device
        number = int(device.partition(":")[2] or 0)
        if number >= len(stage.devices):
            text = (
                f"The copy in stage {stage.number} is to run on {device}, but a stage sees its own"
                f" cards alone, from cuda:0 on. Give it env: {{{TOKENIZER_DEVICE}: cuda:0}}."
            )
            yield Finding(Level.TO_DO, text)


def _flash_attention(machine: Machine) -> Iterator[Finding]:
    if version := machine.version_of("flash-attn"):
        yield Finding(Level.OK, f"flash-attn {version} is there.")
        return
    text = (
        "flash-attn is not installed: on a card, the audio tokenizer may make noise without it"
        " (vllm-project/vllm-omni#1776). It is built for your torch, which takes long and needs"
        " the CUDA toolkit. Without it, put every copy on the CPU (omni_live: {tokenizer_device:"
        " cpu}, and no env on a stage), which is slow."
    )
    python = shlex.quote(machine.python)
    install = f"uv pip install --python {python} --no-build-isolation flash-attn"
    yield Finding(Level.TO_DO, text, install)


def _positions(profile: Profile, weights: Mapping[str, Weights]) -> Iterator[Finding]:
    """vLLM-Omni lets a context be longer than the model's own, which then reads past its tables."""
    think = profile.stages[0]
    found = weights.get(think.model)
    most = _max_positions(found) if found else None
    if most and think.max_model_len > most:
        text = (
            f"max_model_len of stage {think.number} is {think.max_model_len:,}, more than the"
            f" {most:,} positions of its model (max_position_embeddings in config.json). Lower it"
            f" to {most}."
        )
        yield Finding(Level.TO_DO, text)


def _max_positions(weights: Weights) -> int | None:
    if weights.folder is None:
        return None
    try:
        config = json.loads((weights.folder / "config.json").read_text(encoding="utf-8"))
        return int(config["max_position_embeddings"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
