"""The arithmetic of memory."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backend.engines.omni.doctor.memory import fit_stage, kv_bytes_per_token
from backend.engines.omni.doctor.models import GIB, facts_of
from backend.engines.omni.doctor.placement import named_cards, place
from backend.engines.omni.doctor.profile import read_profile
from backend.engines.omni.doctor.weights import find_weights
from tests.engines.omni.doctor_doubles import DEPLOY, machine, put_model

HEAR, THINK, SPEAK, SOUND = read_profile(DEPLOY / "aura_omni.yaml").stages
CARD = 80 * GIB


def test_a_token_takes_a_key_and_a_value_in_each_layer():
    assert kv_bytes_per_token(THINK, facts_of(THINK)) == 144 * 1024
    assert kv_bytes_per_token(SPEAK, facts_of(SPEAK)) == 112 * 1024
    assert kv_bytes_per_token(HEAR, facts_of(HEAR)) == 112 * 1024
    half = replace(THINK, kv_item_bytes=1)
    assert kv_bytes_per_token(half, facts_of(half)) == 72 * 1024


def test_a_share_is_weights_working_memory_and_kv():
    fit = fit_stage(THINK, CARD)
    assert fit.share_bytes == pytest.approx(32 * GIB)
    assert fit.weights_bytes + fit.working_bytes + fit.kv_bytes == fit.share_bytes
    assert fit.kv_tokens == fit.kv_bytes // (144 * 1024)
    assert (fit.turns, fit.problem) == (8, "")


def test_fp8_halves_the_linear_layers():
    plain, small = (fit_stage(replace(THINK, quantization=q), CARD) for q in (None, "fp8"))
    assert plain.weights_bytes == 17 * GIB
    assert small.weights_bytes == pytest.approx(10 * GIB, rel=0.01)


def test_a_stage_that_cannot_hold_one_whole_context_does_not_start():
    short = replace(THINK, max_model_len=200_000)
    assert "fewer than its max_model_len of 200,000" in fit_stage(short, CARD).problem


def test_a_stage_whose_weights_do_not_fit_does_not_start():
    fit = fit_stage(THINK, 24 * GIB)
    assert fit.problem == "needs 19.6 GiB to start, its share of the card is 9.6 GiB"
    assert fit.turns is None


def test_the_sound_stage_has_no_kv():
    assert (fit_stage(SOUND, CARD).kv_bytes, fit_stage(SOUND, CARD).turns) == (0, None)


def test_a_fixed_kv_cache_counts_as_it_is():
    assert fit_stage(replace(THINK, kv_bytes=3 * GIB), CARD).kv_bytes == 3 * GIB


def test_tensor_parallel_splits_weights_and_kv():
    two = replace(THINK, tensor_parallel=2, devices=(0, 1))
    assert fit_stage(two, CARD).weights_bytes == 17 * GIB // 2
    assert kv_bytes_per_token(two, facts_of(two)) == 72 * 1024


def test_replicas_work_side_by_side():
    assert fit_stage(replace(THINK, replicas=2), CARD).turns == 16


def test_smaller_pictures_need_less_to_work_in():
    working = [
        fit_stage(replace(THINK, picture_tokens=tokens), CARD).working_bytes
        for tokens in (6_400, 16_384)
    ]
    assert working[1] - working[0] > GIB / 2


def test_the_files_on_disk_tell_the_weights(tmp_path):
    folder = put_model(tmp_path, "my/aura", 20 * GIB)
    mine = replace(THINK, model=str(folder))
    fit = fit_stage(mine, CARD, find_weights(mine.model, machine()))
    assert fit.weights_bytes == pytest.approx(20.8 * GIB)


def test_shares_that_fill_the_card_leave_no_room_for_contexts():
    profile = read_profile(DEPLOY / "aura_omni.yaml")
    stages = tuple(replace(stage, share=0.25) for stage in profile.stages)
    placement = place(replace(profile, stages=stages), named_cards(profile))
    assert not placement.cards[0].holds
    assert not placement.fits
