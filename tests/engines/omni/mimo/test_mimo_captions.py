"""Captions follow the sound, and are written as SRT and WebVTT."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.contract.events import Cue
from backend.engines.omni.mimo.captions import CaptionTrack
from backend.engines.omni.mimo.replies import ReplyDelta, ReplySplitter
from backend.engines.omni.mimo.specs import Ending
from backend.media.cues import srt, vtt

EMPTY, EOT = 151667, 151672


def cues(*blocks: tuple[str, int]) -> list[Cue]:
    """The cues of words with so many groups of sound after each."""
    track, group = CaptionTrack(), 0
    for words, groups in blocks:
        track.add(ReplyDelta(answer=words, groups=groups, at_group=group))
        group += groups
    return track.cues()


def test_a_sentence_is_a_cue_from_its_first_word_to_the_next_sentence():
    assert cues(("Hello there, my", 5), (" friend.", 5), (" How are", 5), (" you?", 10)) == [
        Cue(0.0, 1.6, "Hello there, my friend."),
        Cue(1.6, 4.0, "How are you?"),
    ]


def test_sentences_that_begin_together_are_one_cue():
    assert cues(("Yes. No.", 5), (" Maybe.", 20)) == [Cue(0.0, 4.0, "Yes. No. Maybe.")]


def test_the_end_of_a_word_or_a_sentence_that_comes_later_stays_with_its_beginning():
    assert cues(("Won", 10), ("derful", 5), (". And", 5), (" so", 5)) == [
        Cue(0.0, 2.4, "Wonderful."),
        Cue(2.4, 4.0, "And so"),
    ]


def test_blanks_that_come_by_themselves_stay_with_the_words_before_them():
    assert cues(("Yes. ", 10), ("No", 5), (".", 5)) == [Cue(0.0, 1.6, "Yes."), Cue(1.6, 3.2, "No.")]
    assert cues(("Yes.", 10), ("\n", 10), (" No.", 10)) == [
        Cue(0.0, 3.2, "Yes."),
        Cue(3.2, 4.8, "No."),
    ]


def test_a_cue_takes_no_word_that_would_make_it_too_wide():
    made = cues(*[(" stretching", 5)] * 8 + [(" it", 5)])
    assert [cue.text for cue in made] == [" ".join(["stretching"] * 7), "stretching it"]
    made = cues(*[("很长的话", 5)] * 7)
    assert [len(cue.text) for cue in made] == [28]
    made = cues(*[("很长的一句话", 5)] * 7)
    assert [len(cue.text) for cue in made] == [40, 2]
    made = cues(*[("四个字的", 3)] * 10, ("。好", 5))
    assert [cue.text for cue in made] == [("四个字的" * 10)[:-1], "的。好"]


def test_a_slow_cue_ends_six_seconds_after_it_began():
    made = cues(*[(" la", 10)] * 8)
    assert [(cue.start_s, cue.end_s, cue.text) for cue in made] == [
        (0.0, 6.4, "la la la la"),
        (6.4, 12.8, "la la la la"),
    ]


def test_chinese_is_cut_after_its_full_stops():
    assert [cue.text for cue in cues(("你好。", 8), ("再见！", 8))] == ["你好。", "再见！"]


def test_the_last_cue_lasts_a_second_and_no_words_are_no_cue():
    assert cues(("Hi", 2)) == [Cue(0.0, 1.0, "Hi")]
    assert cues(("", 10)) == []
    assert cues((" \n", 10)) == []
    assert cues((" \n", 10), ("Hi", 10)) == [Cue(1.6, 3.2, "Hi")]


PIECES = st.sampled_from(["a", " word", " end.", "。", "好", "\n", " ", "", " <b>", "-->"])


@given(st.lists(st.tuples(PIECES, st.integers(0, 12)), max_size=40))
def test_cues_follow_each_other_and_hold_all_words(blocks):
    made = cues(*blocks)
    assert all(later.start_s == cue.end_s for cue, later in pairwise(made))
    assert all(cue.end_s - cue.start_s >= 0.99 for cue in made)
    told = "".join("".join(cue.text.split()) for cue in made)
    assert told == "".join("".join(words for words, _ in blocks).split())


def test_times_come_from_the_token_stream():
    reply, track = ReplySplitter(Ending.SPEAK), CaptionTrack()
    stream = [("Good", 1), (" morning", 2), (".", 3), (" It", 4), (" is", 5)]
    stream += [("<|empty|>", EMPTY)] * 5 + [(" late", 6), (".", 7), ("<|eot|>", EOT)]
    stream += [("<|empty|>", EMPTY)] * 10
    for text, token in stream:
        track.add(reply.feed(text, [token]))
    track.add(reply.finish())
    assert track.cues() == [Cue(0.0, 2.4, "Good morning. It is late.")]


CUES = [Cue(0.0, 1.6, "Fish & <chips> --> now"), Cue(3661.28, 3662.5, "再见。")]


def test_srt():
    assert srt(CUES) == (
        "1\n00:00:00,000 --> 00:00:01,600\nFish & <chips> -> now\n"
        "\n"
        "2\n01:01:01,280 --> 01:01:02,500\n再见。\n"
    )
    assert srt([]) == ""


def test_vtt():
    assert vtt(CUES) == (
        "WEBVTT\n"
        "\n"
        "00:00:00.000 --> 00:00:01.600\nFish &amp; &lt;chips&gt; --&gt; now\n"
        "\n"
        "01:01:01.280 --> 01:01:02.500\n再见。\n"
    )
    assert vtt([]) == "WEBVTT\n"


@pytest.mark.parametrize(
    ("seconds", "clock"), [(59.9996, "00:01:00,000"), (3599.84, "00:59:59,840")]
)
def test_times_are_rounded_to_milliseconds(seconds, clock):
    assert f"{clock} -->" in srt([Cue(seconds, seconds + 1, "a")])
