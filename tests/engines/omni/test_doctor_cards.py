"""What ``nvidia-smi`` says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from backend.engines.omni.doctor.cards import find_cards
from backend.engines.omni.doctor.machine import CommandFailed, this_machine
from tests.engines.omni.doctor_doubles import H100, L4, RTX_4090, machine


def test_a_card_has_its_name_and_its_memory():
    (card,) = find_cards(machine(H100)).cards
    assert (card.name, card.total_bytes >> 20, card.free_bytes >> 20) == (
        "NVIDIA H100 80GB HBM3", 81559, 81000
    )  # fmt: skip
    assert (card.driver, card.capability, card.uuid) == ("580.95.05", 9.0, "GPU-8")
    assert card.usable_bytes == pytest.approx(78.5 * 2**30, rel=0.001)


@pytest.mark.parametrize(
    ("visible", "names"),
    [
        (None, ["L4", "4090", "HBM3"]),
        ("2,0", ["HBM3", "L4"]),
        ("GPU-5", ["4090"]),
        ("1,7,0", ["4090"]),
        ("", []),
        ("-1", []),
        ("NoDevFiles", []),
    ],
)
def test_only_visible_cards_count_in_their_order(visible, names):
    environ = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    search = find_cards(machine(L4, RTX_4090, H100, environ=environ))
    assert [card.name.split()[-1] for card in search.cards] == names
    assert bool(search.problem) == (not names)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["GPU-1, NVIDIA GB10, [N/A], [N/A], 580.95.05, 12.1"], "does not understand"),
        (["nonsense"], "does not understand"),
        (["   "], "lists no card"),
    ],
)
def test_answers_that_say_nothing_are_told(lines, told):
    search = find_cards(machine(*lines))
    assert search.cards == ()
    assert told in search.problem


def test_a_failing_driver_is_quoted():
    broken = "nvidia-smi: Failed to initialize NVML: Driver/library version mismatch"
    assert broken in find_cards(machine(failure=broken)).problem


def test_an_unknown_capability_is_none():
    (card,) = find_cards(machine(H100.replace("9.0", "[N/A]"))).cards
    assert card.capability is None


def test_the_real_machine_runs_programs_and_knows_packages_and_disks(tmp_path):
    real = this_machine()
    assert real.run([sys.executable, "-c", "print(1)"]) == "1\n"
    with pytest.raises(CommandFailed, match="not installed"):
        real.run(["no-such-program-anywhere"])
    with pytest.raises(CommandFailed, match="it broke"):
        real.run([sys.executable, "-c", "import sys; print('it broke'); sys.exit(3)"])
    assert real.version_of("pytest")
    assert real.version_of("no-such-package-anywhere") is None
    assert real.free_bytes(tmp_path / "not" / "yet" / "there") > 0
    assert real.home == Path.home()
