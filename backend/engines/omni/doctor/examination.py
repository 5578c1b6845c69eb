"""The examination: packages, cards, memory and weights, without starting or importing anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from backend.engines.omni.doctor.advice import advice, all_profiles, best_profile
from backend.engines.omni.doctor.cards import find_cards
from backend.engines.omni.doctor.deploy_file import ProfileProblem
from backend.engines.omni.doctor.findings import (
    card_findings,
    machine_findings,
    package_findings,
    placement_findings,
)
from backend.engines.omni.doctor.machine import Machine, this_machine
from backend.engines.omni.doctor.mimo_findings import mimo_findings
from backend.engines.omni.doctor.packages import Package, read_packages
from backend.engines.omni.doctor.placement import named_cards, place
from backend.engines.omni.doctor.profile import Profile, read_profile
from backend.engines.omni.doctor.report import Finding, Level, Report
from backend.engines.omni.doctor.weight_findings import look_up_weights, weight_findings

_ROOT = Path(__file__).resolve().parents[4]


@dataclass(frozen=True, slots=True)
class Places:
    """Files of the project that the doctor reads.

    Attributes:
        requirements: What the engine needs, pinned.
        profiles: The folder of the deploy files.
    """

    requirements: Path = _ROOT / "requirements.txt"
    profiles: Path = _ROOT / "deploy"


def examine(
    deploy_config: Path,
    *,
    models: Mapping[int, str] | None = None,
    on_host: str = "",
    tokenizer: str = "",
    machine: Machine | None = None,
    places: Places | None = None,
) -> Report:
    """Look at this machine with a deploy file in hand. Takes about a second.

    Whatever is wrong with the file, the cards or the packages is told in the report, not raised.

    Args:
        deploy_config: The deploy file.
        models: Models to take instead of the file's, by stage number.
        on_host: Which host this is, for a file that spreads the stages over several.
        tokenizer: MiMo-Audio's audio tokenizer to take instead of the file's.
        machine: The machine; this one by default.
        places: Files of the project; its own by default.
    """
    machine = machine or this_machine()
    places = places or Places()
    shown = str(deploy_config)
    packages, found = _packages(places.requirements, machine)
    search = find_cards(machine)
    try:
        profile = read_profile(deploy_config).with_models(models or {})
    except ProfileProblem as problem:
        stop = Finding(Level.STOP, str(problem))
        return Report(shown, (*found, stop), packages, search.cards)
    found += [Finding(Level.TO_DO, doubt) for doubt in profile.doubts]
    profile, about_hosts = _part(profile, on_host)
    found += [*about_hosts, *card_findings(search, profile), *machine_findings(machine)]
    weights = look_up_weights(profile, machine)
    cards = search.cards or named_cards(profile)
    placement = place(profile, cards, weights) if cards else None
    if not search.cards or placement is None:
        found += all_profiles(places.profiles, profile.pipeline)
    else:
        found += placement_findings(placement, profile)
        if not placement.fits:
            best = best_profile(places.profiles, search.cards, profile.pipeline)
            found.append(advice(best, places.profiles))
    if placement is None or placement.fits:
        found += weight_findings(profile, weights, machine)
        named = tokenizer or profile.tokenizer
        found += mimo_findings(replace(profile, tokenizer=named), weights, machine, search.cards)
    placed_on = "these cards" if search.cards else f"the card it is made for, {profile.card}"
    return Report(shown, tuple(found), packages, search.cards, placement, placed_on)


def _packages(path: Path, machine: Machine) -> tuple[tuple[Package, ...], list[Finding]]:
    try:
        packages = read_packages(path, machine)
    except (OSError, UnicodeDecodeError):
        return (), [Finding(Level.TO_DO, f"{path} cannot be read; the packages were not checked.")]
    return packages, list(package_findings(packages, path, machine))


def _part(profile: Profile, on_host: str) -> tuple[Profile, list[Finding]]:
    if not profile.hosts:
        return profile, []
    split = "; ".join(f"{name}: {', '.join(map(str, on))}" for name, on in profile.hosts.items())
    host = on_host or next(iter(profile.hosts))
    if host not in profile.hosts:
        text = f"There is no host {host} in the deploy file. Its hosts and their stages: {split}."
        return profile, [Finding(Level.TO_DO, text)]
    text = f"The stages are spread over hosts ({split}); this one is taken to be the {host}."
    return profile.only(frozenset(profile.hosts[host])), [Finding(Level.NOTE, text)]
