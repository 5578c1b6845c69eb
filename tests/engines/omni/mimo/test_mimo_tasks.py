"""The ten kinds of work, and what each takes and gives."""

from __future__ import annotations

import pytest

from backend.contract.errors import TurnRefused
from backend.contract.tasks import TASKS, Input
from backend.engines.omni.mimo.specs import Ending
from backend.engines.omni.mimo.tasks import SPECS, task

TEN = """tts_sft tts_sft_with_instruct tts_sft_with_audio tts_sft_with_natural_instruction
audio_trancribing_sft audio_understanding_sft audio_understanding_sft_with_thinking
spoken_dialogue_sft_multiturn speech2text_dialogue_sft_multiturn
text_dialogue_sft_multiturn""".split()


def test_there_are_ten_spelled_as_upstream_spells_them():
    assert list(TASKS) == TEN
    assert all(task(name).kind.name == name for name in TEN)


def test_a_wrong_name_is_refused_with_the_ten():
    with pytest.raises(TurnRefused) as refused:
        task("audio_transcribing_sft")
    assert refused.value.code == "unknown_task"
    assert all(name in refused.value.message for name in TEN)


@pytest.mark.parametrize(
    ("name", "required", "optional"),
    [
        ("tts_sft", "text", ""),
        ("tts_sft_with_instruct", "text instruct", "voice"),
        ("tts_sft_with_audio", "text voice", ""),
        ("tts_sft_with_natural_instruction", "text", "voice"),
        ("audio_trancribing_sft", "clip", ""),
        ("audio_understanding_sft", "clip question", ""),
        ("audio_understanding_sft_with_thinking", "clip question", ""),
        ("spoken_dialogue_sft_multiturn", "clip", "voice history system_prompt"),
        ("speech2text_dialogue_sft_multiturn", "clip", "history"),
        ("text_dialogue_sft_multiturn", "text", "history"),
    ],
)
def test_inputs(name, required, optional):
    spec = task(name).kind
    assert spec.required == {Input(part) for part in required.split()}
    assert spec.optional == {Input(part) for part in optional.split()}


def test_all_that_is_spoken_is_drawn_greedily_and_the_rest_is_asked_for_as_text_only():
    for way in SPECS.values():
        if way.kind.speaks:
            assert way.sampling.temperature == 0.0
            assert way.sampling.repetition_penalty == 1.1
        assert way.modalities == (["text", "audio"] if way.kind.speaks else ["text"])
    assert [name for name, variant in SPECS if SPECS[name, variant].kind.speaks] == [
        *TEN[:5],
        TEN[7],
    ]


def test_a_reply_begins_with_reasoning_where_the_prompt_asks_for_it():
    for way in SPECS.values():
        assert way.kind.reasons == (way.ending is Ending.THINK)


def test_every_way_to_do_a_task_has_its_prompt():
    ways = [(name, way) for name, kind in TASKS.items() for way in ("", *kind.variants)]
    assert list(SPECS) == ways


@pytest.mark.parametrize(
    ("name", "variant", "ending", "temperature"),
    [
        ("audio_trancribing_sft", "clean", Ending.NOTHINK, 0.0),
        ("speech2text_dialogue_sft_multiturn", "no_thinking", Ending.NOTHINK, 0.6),
        ("text_dialogue_sft_multiturn", "thinking", Ending.THINK, 0.4),
    ],
)
def test_variants_write_only(name, variant, ending, temperature):
    spec = task(name, variant)
    assert (spec.kind.name, spec.ending, spec.kind.speaks) == (name, ending, False)
    assert spec.sampling.temperature == temperature
    assert spec.kind.required == task(name).kind.required


def test_a_variant_that_a_task_has_not_is_refused():
    with pytest.raises(TurnRefused, match="Choose from: none") as refused:
        task("tts_sft", "clean")
    assert refused.value.code == "unknown_variant"
