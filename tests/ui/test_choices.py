"""The choices under Settings: what an engine is told, and what is refused before it is."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from backend.contract.errors import Field, TurnRefused
from backend.contract.turn import TurnSettings
from backend.contract.voice import VoiceControls, VoiceMode, VoiceSpec
from backend.media.limits import MediaLimits
from tests.scripted_engine import ONE_VOICE, tone
from ui.choices import Choices, VoiceChoices
from ui.voice_words import missing, reference_label

LIMITS = MediaLimits(max_audio_s=300, max_video_s=600, max_bytes=20_000_000)
RICH = VoiceControls(
    modes=(VoiceMode.NAMED, VoiceMode.CLONE),
    speakers=("Vivian", "Ryan"),
    languages=("auto", "en", "de"),
    style_chars=500,
    reference_s=(3, 30),
    changes_speed=True,
    takes_token_ids=True,
)
CLONES = replace(RICH, modes=(VoiceMode.CLONE,))


@pytest.fixture
def clip(tmp_path):
    """Write a reference of some seconds; returns its path."""

    def write(seconds: float, samples: np.ndarray | None = None) -> str:
        path = tmp_path / "voice.wav"
        soundfile.write(path, tone(seconds, rate=24_000) if samples is None else samples, 24_000)
        return str(path)

    return write


def refusal(choices: VoiceChoices, controls: VoiceControls = RICH) -> str:
    with pytest.raises(TurnRefused) as refused:
        choices.spec(controls, LIMITS)
    assert refused.value.field is Field.VOICE
    assert refused.value.message
    return refused.value.code


def test_a_voice_of_the_model_is_asked_for_by_name():
    choices = VoiceChoices("named", "Ryan", "de", " warm ", "stale", True, True, 1.5, "gone.wav")
    assert choices.spec(RICH, LIMITS) == VoiceSpec(
        VoiceMode.NAMED, "Ryan", "de", "warm", pass_token_ids=True
    )


def test_a_copied_voice_comes_as_16_khz_mono_with_its_words(clip):
    choices = VoiceChoices("clone", "Ryan", reference_text=" One two. ", reference=clip(4))
    spec = choices.spec(RICH, LIMITS)
    assert (spec.mode, spec.speaker, spec.reference_text) == (VoiceMode.CLONE, "", "One two.")
    assert spec.reference_audio.sample_rate == 16_000
    assert spec.reference_audio.samples.dtype == np.float32
    assert spec.reference_audio.duration_s == pytest.approx(4, abs=0.01)


def test_the_sound_of_a_voice_alone_needs_no_words(clip):
    choices = VoiceChoices("clone", reference_text=" ", x_vector_only=True, reference=clip(4))
    spec = choices.spec(RICH, LIMITS)
    assert spec.x_vector_only
    assert spec.reference_text == ""


def test_a_clone_without_a_clip_is_refused():
    assert refusal(VoiceChoices("clone", reference_text="One two.")) == "reference_missing"


@pytest.mark.parametrize("words", ["", "   ", "\n\t"])
def test_a_clone_without_words_is_refused(clip, words):
    choices = VoiceChoices("clone", reference_text=words, reference=clip(4))
    assert refusal(choices) == "reference_text_missing"


@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        (2.9, "reference_too_short"),
        (0.01, "reference_too_short"),
        (30.1, "reference_too_long"),
        (40, "reference_too_long"),
    ],
)
def test_a_clip_that_is_too_short_or_too_long_is_refused(clip, seconds, code):
    assert refusal(VoiceChoices("clone", x_vector_only=True, reference=clip(seconds))) == code


def test_a_clip_of_the_longest_length_is_taken(clip):
    choices = VoiceChoices("clone", x_vector_only=True, reference=clip(30))
    assert choices.spec(RICH, LIMITS).reference_audio.duration_s == pytest.approx(30)


def test_a_clip_without_a_sound_or_of_another_kind_is_refused(clip, tmp_path):
    silent = clip(0, np.zeros(24_000 * 4, np.float32))
    assert refusal(VoiceChoices("clone", x_vector_only=True, reference=silent)) == (
        "reference_silent"
    )
    (tmp_path / "voice.txt").write_text("no sound " * 50)
    other = VoiceChoices("clone", x_vector_only=True, reference=str(tmp_path / "voice.txt"))
    assert refusal(other) == "reference_unreadable"


def test_quiet_speech_is_taken(clip):
    quiet = clip(0, tone(4, rate=24_000) * 0.006)
    voice = VoiceChoices("clone", x_vector_only=True, reference=quiet).spec(RICH, LIMITS)
    assert voice.reference_audio.duration_s == pytest.approx(4, abs=0.01)
    assert 0 < np.abs(voice.reference_audio.samples).max() < 0.01


def test_a_clip_in_use_stays_young_enough_not_to_be_swept(clip):
    path = Path(clip(4))
    os.utime(path, (0, 0))
    VoiceChoices("clone", x_vector_only=True, reference=str(path)).spec(RICH, LIMITS)
    assert path.stat().st_mtime > 0


def test_a_style_is_taken_up_to_its_limit():
    assert VoiceChoices(style="x" * 500).spec(RICH, LIMITS).style == "x" * 500
    assert refusal(VoiceChoices(style="x" * 501)) == "style_too_long"


def test_what_an_engine_does_not_know_falls_back_to_its_default():
    kept = VoiceChoices("clone", "Ryan", "ja", "x" * 600, "words", True, True, 1.5)
    assert kept.spec(ONE_VOICE, LIMITS) == VoiceSpec(VoiceMode.NAMED, "tone")
    assert kept.known_to(replace(RICH, languages=("de", "en"))).language == "de"
    assert kept.known_to(replace(RICH, changes_speed=False)).speed == 1.0
    assert refusal(VoiceChoices("named"), CLONES) == "reference_missing"


def test_the_whole_panel_becomes_the_settings_of_a_turn():
    values = ["Be brief.", "en", 64, 4, "named", "Ryan", "auto", "", "", False, False, 1.25, None]
    settings = Choices.of(*values).for_turn(RICH, LIMITS)
    voice = VoiceSpec(VoiceMode.NAMED, "Ryan")
    assert settings == TurnSettings("Be brief.", "en", 64, 1.25, voice)


@pytest.mark.parametrize(
    ("controls", "words"),
    [
        (None, "What can be chosen about the voice is shown once the engine is ready."),
        (RICH, ""),
        (
            ONE_VOICE,
            "This engine speaks with one voice of its own. It cannot copy a voice, "
            "be told which language to speak or follow a style.",
        ),
        (CLONES, "This engine has no voice of its own: it copies the one that you give it."),
        (replace(RICH, changes_speed=False), "This engine cannot change its speed."),
    ],
)
def test_what_is_missing_is_said_in_plain_words(controls, words):
    assert missing(controls) == words


def test_the_length_of_a_reference_is_told_beside_it():
    assert reference_label((3, 30)) == "Voice to copy, 3 to 30 s"
    assert reference_label((0, 0)) == "Voice to copy"
