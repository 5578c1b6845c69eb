"""What is measured about a recording is near the truth, and always a finite number."""

from __future__ import annotations

import numpy as np
import pytest

from backend.voices.activity import Activity, find_speech
from backend.voices.measures import clipped_share, level_db, snr_db, tonality, treble_db
from tests.realtime.sounds import RATE, keyboard, music
from tests.voices.recordings import (
    at_level,
    clip,
    cut_off,
    in_noise,
    question,
    quiet_room,
    spoken,
    through_a_telephone,
)

NOTHING = [np.zeros(0, np.float32), np.zeros(1, np.float32), np.zeros(RATE, np.float32)]


@pytest.mark.parametrize("measure", [level_db, clipped_share, tonality, treble_db])
@pytest.mark.parametrize("sound", NOTHING)
def test_silence_gives_finite_numbers(measure, sound):
    assert np.isfinite(measure(sound))


@pytest.mark.parametrize("sound", NOTHING)
def test_there_is_no_speech_above_the_noise_where_nobody_speaks(sound):
    assert snr_db(Activity(sound, ())) == 0.0


@pytest.mark.parametrize("decibels", [-20, -55, -90])
def test_a_level_is_what_it_was_made(decibels):
    assert level_db(at_level(question(), decibels)) == pytest.approx(decibels, abs=0.1)


@pytest.mark.parametrize("ratio_db", [0, 10, 20])
def test_noise_is_measured_within_two_decibels(ratio_db):
    activity = find_speech(clip(in_noise(question(), ratio_db)))
    assert snr_db(activity) == pytest.approx(ratio_db, abs=2)


def test_noise_that_a_recorder_mutes_in_pauses_is_measured_within_the_speech():
    noisy = in_noise(question(), 10)
    activity = find_speech(clip(noisy))
    muted = np.zeros_like(noisy)
    for start, end in activity.spans:
        muted[start:end] = noisy[start:end]
    assert snr_db(Activity(muted, activity.spans)) == pytest.approx(10, abs=2)


def test_hum_below_the_voice_is_no_noise():
    seconds = np.arange(len(question())) / RATE
    humming = question() + 0.02 * np.sin(2 * np.pi * 50 * seconds).astype(np.float32)
    assert snr_db(find_speech(clip(humming))) > 30


def test_speech_without_pauses_is_not_taken_for_noise():
    assert snr_db(find_speech(clip(spoken(question())))) > 25


def test_the_level_of_speech_does_not_change_what_else_is_measured():
    loud = find_speech(clip(question()))
    quiet = find_speech(clip(at_level(question(), -55)))
    assert quiet.speech_s == pytest.approx(loud.speech_s, abs=0.1)
    assert snr_db(quiet) == pytest.approx(snr_db(loud), abs=1)


def test_the_more_is_cut_off_the_larger_is_the_share():
    shares = [clipped_share(cut_off(spoken(question()), share)) for share in (1, 0.5, 0.3, 0.1)]
    assert shares[0] < 0.0005
    assert shares == sorted(shares)
    assert shares[-1] > 0.05


def test_clipping_is_found_after_the_clip_was_turned_down():
    cut = cut_off(spoken(question()), 0.3)
    assert clipped_share(0.1 * cut) == pytest.approx(clipped_share(cut), rel=0.01)


def test_music_is_tonal_and_the_rest_is_not():
    assert tonality(music(4)) > 0.2
    for sound in (quiet_room(4), keyboard(4), question()):
        assert tonality(sound) < 0.1


def test_a_telephone_takes_the_treble():
    assert treble_db(question()) > -35
    assert treble_db(through_a_telephone(question())) < -55
