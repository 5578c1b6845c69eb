"""Every deploy file fits the card that it is made for."""

from __future__ import annotations

import re

import pytest

from backend.engines.omni.doctor.placement import Placement, named_cards, place
from backend.engines.omni.doctor.profile import Profile, read_profile
from tests.engines.omni.doctor_doubles import DEPLOY

FILES = sorted(
    path for pattern in ("aura_*", "qwen3_*", "mimo_*") for path in DEPLOY.glob(f"{pattern}.yaml")
)


def parts(profile: Profile) -> list[Profile]:
    hosts = [profile.only(frozenset(numbers)) for numbers in profile.hosts.values()]
    return hosts or [profile]


def placements() -> list[tuple[str, Profile, Placement]]:
    found = []
    for path in FILES:
        for part in parts(read_profile(path)):
            numbers = "".join(str(stage.number) for stage in part.stages)
            found.append((f"{path.stem}-{numbers}", part, place(part, named_cards(part))))
    return found


PLACEMENTS = placements()
each = pytest.mark.parametrize(
    ("profile", "placement"), [p[1:] for p in PLACEMENTS], ids=[p[0] for p in PLACEMENTS]
)


def test_the_files_are_there():
    assert {path.name for path in FILES} == {
        "aura_24gb.yaml", "aura_2gpu.yaml", "aura_32gb.yaml", "aura_80gb.yaml",
        "aura_multi_host.yaml", "aura_omni.yaml", "mimo_audio.yaml", "mimo_audio_2gpu.yaml",
        "mimo_audio_32gb.yaml", "qwen3_tts.yaml", "qwen3_tts_80gb.yaml",
    }  # fmt: skip


@each
def test_every_stage_starts(profile, placement):
    assert [fit.problem for fit in placement.stages] == [""] * len(profile.stages)
    for fit in placement.stages:
        assert fit.weights_bytes < fit.share_bytes


@each
def test_the_kv_holds_the_sessions_that_it_is_made_for(profile, placement):
    assert profile.sessions
    assert placement.sessions >= profile.sessions


@each
def test_the_card_holds_all_of_them(profile, placement):
    for card in placement.cards:
        assert card.share <= 0.95
        assert card.holds


@each
def test_nothing_in_it_is_doubtful(profile, placement):
    assert profile.doubts == ()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_comment_tells_what_is_calculated(path):
    profile = read_profile(path)
    table = [line.split() for line in path.read_text().splitlines() if re.match(r"#   \d ", line)]
    if profile.hosts:
        assert "aura_2gpu.yaml" in path.read_text()
        return
    fits = {fit.stage.number: fit for fit in place(profile, named_cards(profile)).stages}
    assert len(table) == len(profile.stages)
    for words in table:
        at = next(n for n, word in enumerate(words) if word in {"hear", "think", "speak", "sound"})
        fit = fits[int(words[at - 1])]
        share, size, weights, working, kv = words[at + 1 : at + 6]
        assert float(share) == fit.stage.share
        told = [float(size), float(weights), float(working), 0.0 if kv == "-" else float(kv)]
        sizes = [fit.share_bytes, fit.weights_bytes, fit.working_bytes, fit.kv_bytes]
        assert told == pytest.approx([size / 2**30 for size in sizes], abs=0.06)
        if kv != "-":
            tokens = int(words[at + 6].replace(",", ""))
            assert tokens == pytest.approx(fit.kv_tokens, rel=0.02)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_comment_adds_up_what_the_card_holds(path):
    number = r"([\d.]+)"
    sums = re.search(
        rf"#   together +{number} +{number}, and {number} outside[^:]*: {number}", path.read_text()
    )
    profile = read_profile(path)
    cards = place(profile, named_cards(profile)).cards
    assert (sums is None) == (len(cards) > 1 or bool(profile.hosts))
    if sums is not None:
        [card] = cards
        shares = card.taken_bytes - card.outside_bytes
        told = [float(text) for text in sums.groups()]
        sizes = [size / 2**30 for size in (shares, card.outside_bytes, card.taken_bytes)]
        assert told == pytest.approx([card.share, *sizes], abs=0.1)


def test_the_card_of_the_2gpu_profile_can_be_larger():
    profile = read_profile(DEPLOY / "aura_2gpu.yaml")
    larger = named_cards(read_profile(DEPLOY / "aura_32gb.yaml"))[0]
    assert place(profile, (larger, larger)).sessions == 8
