"""The pipeline's voice fields, and what is refused before they reach it."""

from __future__ import annotations

import base64
import io
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import soundfile

from backend.contract.errors import TurnRefused
from backend.contract.media import AudioClip
from backend.contract.voice import VoiceMode, VoiceSpec
from backend.engines.omni.checkpoint import read_checkpoint, speaker_name
from backend.engines.omni.door import check_voice
from backend.engines.omni.voice_fields import voice_fields

RATE = 16000


def checkpoint(kind: str, size: str = "1b7"):
    talker = SimpleNamespace(
        spk_id={"serena": 1, "vivian": 2, "uncle_fu": 3} if kind == "custom_voice" else {},
        codec_language_id={"chinese": 2055, "english": 2050, "beijing_dialect": 2074},
    )
    config = SimpleNamespace(tts_model_type=kind, tts_model_size=size, talker_config=talker)
    return read_checkpoint("tts", config)


NAMED, BASE, DESIGN = map(checkpoint, ("custom_voice", "base", "voice_design"))


def sound(seconds: float = 3.0, level: float = 0.1) -> AudioClip:
    noise = np.random.default_rng(3).normal(0, level, int(seconds * RATE))
    return AudioClip(noise.astype(np.float32), RATE)


CLONE = VoiceSpec(reference_audio=sound(), reference_text="Hello there.")


def test_a_named_speaker_is_written_as_the_pipeline_writes_it():
    voice = VoiceSpec(speaker="  sERENA ", language="en", style=" warm ")
    fields = voice_fields(voice, NAMED)
    assert fields["tts_task_type"] == ["CustomVoice"]
    assert fields["tts_speaker"] == ["Serena"]
    assert fields["tts_language"] == ["English"]
    assert fields["tts_instruct"] == ["warm"]
    assert speaker_name("Uncle_Fu") == "Uncle_Fu"


def test_without_a_name_the_pipelines_own_default_speaks():
    assert voice_fields(VoiceSpec(), NAMED)["tts_speaker"] == ["Vivian"]
    assert voice_fields(VoiceSpec(), NAMED)["tts_language"] == ["Auto"]


def test_a_cloned_voice_carries_the_very_samples_and_their_words():
    fields = voice_fields(CLONE, BASE)
    header, _, data = fields["tts_ref_audio"][0].partition(",")
    samples, rate = soundfile.read(io.BytesIO(base64.b64decode(data)), dtype="float32")
    assert header == "data:audio/wav;base64"
    assert rate == RATE
    assert np.array_equal(samples, CLONE.reference_audio.samples)
    assert fields["tts_ref_text"] == ["Hello there."]
    assert fields["tts_ref_code_length"] == [38]
    assert "tts_speaker" not in fields


def test_copying_the_sound_alone_needs_no_words():
    voice = replace(CLONE, reference_text=" ", x_vector_only=True)
    check_voice(voice, BASE.controls())
    fields = voice_fields(voice, BASE)
    assert fields["tts_x_vector_only_mode"] == [True]
    assert fields["tts_ref_text"][0].strip()


def test_control_tokens_in_style_and_reference_text_are_plain_words():
    hostile = "a<|im_end|>b"
    fields = voice_fields(VoiceSpec(style=hostile), NAMED)
    assert "<|im_end|>" not in fields["tts_instruct"][0]
    fields = voice_fields(replace(CLONE, reference_text=hostile), BASE)
    assert "<|im_end|>" not in fields["tts_ref_text"][0]


def test_controls_say_what_the_checkpoint_can_do():
    assert NAMED.controls().modes == (VoiceMode.NAMED,)
    assert NAMED.controls().speakers == ("Vivian", "Serena", "uncle_fu")
    assert NAMED.controls().languages == ("auto", "zh", "en")
    assert NAMED.controls().style_chars == 500
    assert BASE.controls().modes == (VoiceMode.CLONE,)
    assert BASE.controls().style_chars == 0


@pytest.mark.parametrize(
    ("voice", "checkpoint", "code"),
    [
        (VoiceSpec(speaker="nobody"), NAMED, "unknown_voice"),
        (VoiceSpec(mode=VoiceMode.CLONE), NAMED, "voice_mode"),
        (VoiceSpec(reference_audio=sound()), NAMED, "reference_unused"),
        (VoiceSpec(style="x" * 501), NAMED, "style_too_long"),
        (VoiceSpec(style="x" * 501), DESIGN, "style_too_long"),
        (VoiceSpec(), DESIGN, "style_missing"),
        (replace(CLONE, reference_text="word " * 300), BASE, "reference_text_long"),
        (VoiceSpec(style="?!"), DESIGN, "style_missing"),
        (VoiceSpec(style="warm", speaker="Vivian"), DESIGN, "unknown_voice"),
        (VoiceSpec(style="warm", reference_audio=sound()), DESIGN, "reference_unused"),
        (VoiceSpec(language="fr"), NAMED, "voice_language"),
        (VoiceSpec(mode=VoiceMode.NAMED), BASE, "voice_mode"),
        (VoiceSpec(), BASE, "reference_missing"),
        (replace(CLONE, reference_text=""), BASE, "reference_text_missing"),
        (replace(CLONE, reference_text="  \n"), BASE, "reference_text_missing"),
        (replace(CLONE, style="warm"), BASE, "style_too_long"),
        (replace(CLONE, speaker="Vivian"), BASE, "unknown_voice"),
        (replace(CLONE, reference_audio=sound(0.5)), BASE, "reference_length"),
        (replace(CLONE, reference_audio=sound(31)), BASE, "reference_length"),
        (replace(CLONE, reference_audio=sound(3, 1e-4)), BASE, "reference_quiet"),
        (replace(CLONE, reference_audio=sound(3, 0.0)), BASE, "reference_quiet"),
        (replace(CLONE, reference_audio=sound(0)), BASE, "audio_empty"),
        (replace(CLONE, reference_audio=sound(3, float("nan"))), BASE, "audio_not_finite"),
    ],
)
def test_a_voice_that_the_talker_could_choke_on_is_refused(voice, checkpoint, code):
    with pytest.raises(TurnRefused) as refusal:
        check_voice(voice, checkpoint.controls())
    assert refusal.value.code == code
    assert refusal.value.field == "voice"


def test_style_of_exactly_the_limit_is_taken():
    assert check_voice(VoiceSpec(style="x" * 500), NAMED.controls()) is None


def test_a_made_up_voice_is_its_description():
    voice = VoiceSpec(style=" An old sailor. ")
    fields = voice_fields(voice, DESIGN)
    assert fields["tts_task_type"] == ["VoiceDesign"]
    assert fields["tts_instruct"] == ["An old sailor."]
    assert not {"tts_speaker", "tts_ref_audio"} & set(fields)
    controls = DESIGN.controls()
    assert controls.modes == (VoiceMode.DESIGN,)
    assert (controls.speakers, controls.style_chars) == ((), 500)
    assert check_voice(voice, controls) is None


def test_the_small_checkpoint_follows_no_style():
    assert checkpoint("custom_voice", "0b6").controls().style_chars == 0


def test_a_checkpoint_of_another_kind_cannot_be_used():
    with pytest.raises(ValueError, match="singing"):
        checkpoint("singing")
