"""A reference clip is judged before a voice is copied from it."""

from __future__ import annotations

import time

import numpy as np
import pytest

from backend.contract.media import AudioClip
from backend.voices.findings import Report
from backend.voices.measures import level_db
from backend.voices.preflight import examine, kept_part
from backend.voices.speaker import load_encoder
from tests.realtime.sounds import RATE, coughs, music
from tests.voices.recordings import (
    QUESTION,
    another_voice,
    at_level,
    blip_in_zeros,
    clip,
    cut_off,
    in_noise,
    question,
    quiet_room,
    spoken,
    through_a_telephone,
)

RANGE_S = (1.0, 30.0)
TWICE = f"{QUESTION} {QUESTION}"


class OneVoice:
    """An encoder for which all speech is of one voice."""

    def embed_windows(self, speech: np.ndarray) -> np.ndarray:
        return np.full((max(1, len(speech) // RATE), 4), 0.5, np.float32)


def check(samples: np.ndarray, words: str = TWICE, heard: str = TWICE, **more) -> Report:
    """The report on a clip whose recogniser hears ``heard``."""
    return examine(
        clip(samples),
        words,
        range_s=more.pop("range_s", RANGE_S),
        hear=more.pop("hear", lambda part: heard),
        encoder=more.pop("encoder", OneVoice()),
        **more,
    )


def codes(report: Report, *severities: str) -> set[str]:
    return {found.code for found in report.findings if found.severity in severities}


def named(report: Report, code: str):
    return next(found for found in report.findings if found.code == code)


def test_a_good_clip_has_no_faults():
    report = check(question(), encoder=load_encoder())
    assert report.usable
    assert codes(report, "stop", "warn") == set()
    assert codes(report, "fine") >= {
        "speech_length",
        "level",
        "not_clipped",
        "quiet_room",
        "full_band",
        "one_speaker",
        "text_agrees",
    }
    assert report.heard == TWICE


def test_the_gravest_finding_comes_first():
    report = check(in_noise(question(), 5), words="")
    severities = [found.severity for found in report.findings]
    assert severities == sorted(severities, key=["stop", "warn", "note", "fine"].index)


@pytest.mark.parametrize("length", [0, 1, 100, 9 * RATE])
def test_zeros_are_refused_with_advice(length):
    report = check(np.zeros(length, np.float32))
    assert not report.usable
    assert [found.code for found in report.findings] == ["silent"]
    assert "microphone" in report.findings[0].text


@pytest.mark.parametrize("loudness", [1, 10, 100])
def test_hiss_is_no_speech(loudness):
    assert codes(check(loudness * quiet_room(5)), "stop") == {"no_speech"}


def test_coughs_are_no_speech():
    assert not check(coughs(6)).usable


def test_music_is_called_music():
    report = check(music(6))
    assert codes(report, "stop") == {"music"}


def test_a_blip_of_speech_in_zeros_is_too_short():
    report = check(blip_in_zeros())
    assert codes(report, "stop") == {"speech_too_short"}
    assert "0.3 s of speech" in named(report, "speech_too_short").text


def test_a_word_too_short_for_the_engine_is_not_recognised():
    recognised = []
    report = check(blip_in_zeros(), hear=lambda part: recognised.append(part) or "")
    assert (recognised, report.heard) == ([], "")


def test_whispered_speech_is_used_and_raised():
    sound = at_level(question(), -55)
    report = check(sound)
    assert report.usable
    assert codes(report, "warn") == set()
    assert "-5" in named(report, "quiet").text
    raised = kept_part(clip(sound), report.kept_s).samples
    assert level_db(raised) > -30
    assert np.abs(raised).max() <= 0.9001


def test_the_recogniser_hears_the_raised_speech_that_is_kept():
    heard = []
    report = check(at_level(question(), -55), hear=lambda part: heard.append(part) or TWICE)
    (part,) = heard
    assert level_db(part.samples) > -30
    assert part.duration_s == pytest.approx(report.kept_s[1] - report.kept_s[0], abs=0.01)


def test_silence_around_the_speech_is_left_out():
    quiet = quiet_room(4)
    report = check(np.concatenate((quiet, question(), quiet)))
    start, end = report.kept_s
    assert 3.8 < start < 4.8
    assert 8.5 < end < 10.2
    assert "trim" in named(report, "trimmed").fixes
    assert report.usable


def test_long_pauses_within_the_speech_are_named():
    report = check(np.concatenate((question(1), quiet_room(8), question(1))))
    assert "long_pauses" in codes(report, "warn")


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_clipped_speech_is_named_with_its_share(share):
    report = check(cut_off(question(), share))
    assert "clipped" in codes(report, "warn")
    assert "%" in named(report, "clipped").text


@pytest.mark.parametrize(
    ("ratio_db", "code", "severity"),
    [(30, "quiet_room", "fine"), (15, "noisy", "warn"), (5, "very_noisy", "warn")],
)
def test_noise_is_told_in_bands(ratio_db, code, severity):
    assert named(check(in_noise(question(), ratio_db)), code).severity == severity


def test_music_behind_the_speech_is_called_music():
    tune = 0.3 * np.concatenate((music(1), music(1)))
    sound = np.pad(question(), (RATE, RATE))
    sound = sound + np.resize(tune, len(sound))
    assert "music_behind" in codes(check(sound), "warn")


def test_two_speakers_are_named():
    two = np.concatenate((question(), another_voice(question(3))))
    assert "several_speakers" in codes(check(two, encoder=load_encoder()), "warn")


def test_a_telephone_recording_is_noted():
    assert "telephone" in codes(check(through_a_telephone(question())), "note")


def test_a_clip_at_the_rate_of_a_telephone_is_noted():
    narrow = AudioClip(question()[::2].copy(), RATE // 2)
    report = examine(narrow, TWICE, range_s=RANGE_S, hear=lambda part: TWICE, encoder=OneVoice())
    assert report.usable
    assert "telephone" in codes(report, "note")


def test_many_channels_are_noted():
    assert "many_channels" in codes(check(question(), channels=6), "note")
    assert "many_channels" not in codes(check(question(), channels=2), "note")


def test_short_speech_is_a_warning():
    assert "speech_short" in codes(check(question(1), QUESTION, QUESTION), "warn")


def test_long_speech_is_a_warning():
    report = check(question(8), QUESTION * 8, QUESTION * 8)
    assert "speech_long" in codes(report, "warn")
    assert report.usable


def test_speech_too_long_is_refused_with_the_part_that_fits():
    report = check(question(5), range_s=(1.0, 10.0), hear=lambda part: pytest.fail("heard"))
    assert codes(report, "stop") == {"speech_too_long"}
    assert "trim" in named(report, "speech_too_long").fixes
    start, end = report.kept_s
    assert 5.0 < end - start <= 10.0


def test_an_early_pause_is_no_place_to_cut():
    flow = np.resize(spoken(question()), 20 * RATE)
    report = check(np.concatenate((question(1), flow)), range_s=(1.0, 15.0))
    start, end = report.kept_s
    assert end - start > 7.5


def test_the_part_that_fits_passes_by_itself():
    sound = question(5)
    report = check(sound, range_s=(1.0, 10.0))
    part = kept_part(clip(sound), report.kept_s)
    words = f"{TWICE} {QUESTION}"
    assert check(part.samples, words, words, range_s=(1.0, 10.0)).usable


def test_ten_minutes_are_looked_at_in_part():
    sound = question(200)
    began = time.monotonic()
    report = check(sound, encoder=load_encoder())
    assert time.monotonic() - began < 20  # bounded, however slow the machine
    assert codes(report, "stop") == {"speech_too_long"}
    assert "looked_at_begin" in codes(report, "note")


def test_no_text_is_refused_and_the_heard_words_are_offered():
    report = check(question(), words="")
    assert codes(report, "stop") == {"text_missing"}
    assert named(report, "text_missing").fixes == ("use_heard_text", "x_vector_only")
    assert report.heard == TWICE


def test_the_sound_alone_needs_no_text():
    report = check(
        question(), words="", x_vector_only=True, hear=lambda part: pytest.fail("was recognised")
    )
    assert report.usable
    assert report.heard == ""


def test_half_the_text_is_a_warning():
    assert "text_differs" in codes(check(question(), words=QUESTION), "warn")
