"""Captions as files: what a player reads is what was said, at its time."""

from __future__ import annotations

import pytest

from backend.contract.events import Cue
from backend.media.cues import srt, vtt

CUES = (Cue(0.0, 1.5, "One & two."), Cue(3599.9996, 3661.25, "Three."))


def test_subrip_numbers_its_cues():
    assert srt(CUES) == (
        "1\n00:00:00,000 --> 00:00:01,500\nOne & two.\n\n2\n01:00:00,000 --> 01:01:01,250\nThree.\n"
    )


def test_webvtt_says_what_it_is_and_escapes_its_marks():
    assert vtt(CUES) == (
        "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nOne &amp; two.\n\n"
        "01:00:00.000 --> 01:01:01.250\nThree.\n"
    )


@pytest.mark.parametrize("write", [srt, vtt])
def test_text_cannot_end_its_cue_or_begin_another(write):
    file = write([Cue(0, 1, "One.\r\n\n \n2\n00:00:01,000 --> 00:00:02,000\nTwo.")])
    assert file.count("-->") == 1
    assert "One.\n2\n" in file


def test_no_cues_are_a_file_too():
    assert srt([]) == ""
    assert vtt([]) == "WEBVTT\n"
