"""Which profile suits the cards that are there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from backend.engines.omni.doctor.cards import Card
from backend.engines.omni.doctor.deploy_file import ProfileProblem
from backend.engines.omni.doctor.placement import Placement, place
from backend.engines.omni.doctor.printing import shown
from backend.engines.omni.doctor.profile import Profile, read_profile
from backend.engines.omni.doctor.report import Finding, Level


@dataclass(frozen=True, slots=True)
class Choice:
    """A profile that fits, and how."""

    profile: Profile
    placement: Placement


def best_profile(folder: Path, cards: Sequence[Card], pipeline: str) -> Choice | None:
    """The profile that gives up least of the models, then holds most sessions, then most words.

    Args:
        folder: Where the profiles are.
        cards: The cards, taken as empty.
        pipeline: The pipeline that it has to run.

    Returns:
        None when no profile fits.
    """
    profiles = [p for p in single_host_profiles(folder) if p.pipeline == pipeline]
    choices = [Choice(p, place(p, cards)) for p in profiles]
    fitting = [choice for choice in choices if choice.placement.fits]
    return max(
        fitting,
        key=lambda c: (
            c.placement.weights_bytes,
            c.placement.sessions,
            sum(stage.max_model_len for stage in c.profile.stages),
            c.profile.path.name,
        ),
        default=None,
    )


def single_host_profiles(folder: Path) -> list[Profile]:
    """The readable profiles of a folder that need no second host."""
    profiles = []
    for path in sorted(folder.glob("*.yaml")):
        try:
            profile = read_profile(path)
        except ProfileProblem:
            continue
        if not profile.hosts:
            profiles.append(profile)
    return profiles


def advice(choice: Choice | None, folder: Path) -> Finding:
    """What to use instead of a profile that does not fit; ``choice`` is the best of ``folder``."""
    if choice is None:
        text = (
            f"No profile in {shown(folder)} fits these cards. Use a vLLM-Omni server elsewhere, or "
            "--engine embedded."
        )
        return Finding(Level.NOTE, text)
    path, sessions = choice.profile.path, choice.placement.sessions
    text = f"{shown(path)} fits, with room for {sessions} at once. Examine that one:"
    command = f"python -m backend.cli doctor --engine omni --deploy-config {shown(path)}"
    return Finding(Level.NOTE, text, command)


def all_profiles(folder: Path, pipeline: str) -> list[Finding]:
    """Which card each profile of a pipeline is made for."""
    return [
        Finding(Level.NOTE, f"{shown(profile.path)} is made for {profile.card}.")
        for profile in single_host_profiles(folder)
        if profile.card and profile.pipeline == pipeline
    ]
