"""The choices under Settings: what an engine is told, and what is refused before it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backend.contract.errors import Field, TurnRefused
from backend.contract.turn import TurnSettings
from backend.contract.voice import VoiceControls, VoiceMode, VoiceSpec
from tests.scripted_engine import ONE_VOICE
from ui.choices import Choices, VoiceChoices
from ui.voice_words import HOW_TO_COPY, about

RICH = VoiceControls(
    modes=(VoiceMode.NAMED, VoiceMode.CLONE),
    speakers=("Vivian", "Ryan"),
    languages=("auto", "en", "de"),
    style_chars=500,
    reference_s=(3, 30),
    changes_speed=True,
    takes_token_ids=True,
)
CLONES = replace(RICH, modes=(VoiceMode.CLONE,), speakers=())
DESIGNS = replace(RICH, modes=(VoiceMode.DESIGN,), speakers=())


def refusal(choices: VoiceChoices, controls: VoiceControls = RICH) -> tuple[str, str]:
    with pytest.raises(TurnRefused) as refused:
        choices.spec(controls)
    assert refused.value.field is Field.VOICE
    return refused.value.code, refused.value.message


def test_a_voice_of_the_model_is_asked_for_by_name():
    spec = VoiceChoices("Ryan", "de", " warm ", True, 1.5).spec(RICH)
    assert spec == VoiceSpec(VoiceMode.NAMED, "Ryan", "de", "warm", pass_token_ids=True)


def test_a_voice_is_made_up_from_the_style_where_the_engine_does_that():
    spec = VoiceChoices("Ryan", style="an old man").spec(DESIGNS)
    assert spec == VoiceSpec(VoiceMode.DESIGN, style="an old man")


def test_an_engine_of_copied_voices_alone_needs_a_kept_one_and_says_where():
    assert refusal(VoiceChoices("Ryan"), CLONES) == (
        "reference_missing",
        "This engine speaks only in copied voices: keep one in the Voice lab and press Use in the"
        " conversation.",
    )
    spec = VoiceChoices("Ryan", "de", "warm").spec(CLONES, keeps=True)
    assert (spec.speaker, spec.language, spec.style) == ("", "de", "warm")


def test_a_style_is_taken_up_to_its_limit():
    assert VoiceChoices(style="x" * 500).spec(RICH).style == "x" * 500
    code, words = refusal(VoiceChoices(style="x" * 501))
    assert (code, words) == ("style_too_long", "The style has 501 characters; the limit is 500.")


def test_a_style_is_no_longer_with_a_kept_voice():
    with pytest.raises(TurnRefused, match="limit is 500"):
        VoiceChoices(style="x" * 501).spec(CLONES, keeps=True)


def test_what_an_engine_does_not_know_falls_back_to_its_default():
    kept = VoiceChoices("Ryan", "ja", "x" * 600, True, 1.5)
    assert kept.spec(ONE_VOICE) == VoiceSpec(VoiceMode.NAMED, "tone")
    assert kept.known_to(replace(RICH, languages=("de", "en"))).language == "de"
    assert kept.known_to(replace(RICH, changes_speed=False)).speed == 1.0


def test_the_whole_panel_becomes_the_settings_of_a_turn():
    values = ["Be brief.", "en", 64, 4, "Ryan", "auto", "", False, 1.25]
    settings = Choices.of(*values).for_turn(RICH)
    voice = VoiceSpec(VoiceMode.NAMED, "Ryan")
    assert settings == TurnSettings("Be brief.", "en", 64, 1.25, voice=voice)


@pytest.mark.parametrize(
    ("controls", "words"),
    [
        (None, "What can be chosen about the voice is shown once the engine is ready."),
        (RICH, HOW_TO_COPY),
        (
            ONE_VOICE,
            "This engine speaks with one voice of its own. It cannot copy a voice, "
            "be told which language to speak or follow a style.",
        ),
        (CLONES, f"This engine has no voice of its own. {HOW_TO_COPY}"),
        (replace(RICH, changes_speed=False), f"This engine cannot change its speed. {HOW_TO_COPY}"),
        (DESIGNS, "This engine cannot copy a voice."),
    ],
)
def test_what_is_missing_and_where_voices_are_copied_is_said_in_plain_words(controls, words):
    assert about(controls) == words
