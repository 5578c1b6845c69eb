"""Voices are kept, found again, and stay their owners'."""

from __future__ import annotations

import multiprocessing
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

from backend.contract.media import AudioClip
from backend.contract.voice import VoiceMode
from backend.voices.library import VoiceLibrary
from backend.voices.refusals import VoiceRefused
from backend.voices.voice import VoiceDraft

ANN, BOB = "ann", "bob"
OWN_NAMES = ("Vivian", "Ryan")


def a_clip(pitch=220.0, rate=24_000):
    time = np.arange(rate * 3) / rate
    return AudioClip((0.5 * np.sin(2 * np.pi * pitch * time)).astype(np.float32), rate)


def a_copy(name="Anna", **parts):
    words = {"reference_text": "Hello there.", "consent": "I am the speaker."}
    return VoiceDraft(name=name, **{**words, **parts})


@pytest.fixture
def library(tmp_path):
    opened = VoiceLibrary(tmp_path, lambda: OWN_NAMES)
    yield opened
    opened.close()


def clips_in(path):
    return sorted(file.name for file in (path / "clips").iterdir())


def refused(code):
    return pytest.raises(VoiceRefused, check=lambda refusal: refusal.code == code)


def test_a_voice_is_found_again_after_a_restart(tmp_path, library):
    kept = library.keep(ANN, a_copy(tags=("calm", "low")), a_clip())
    library.close()
    again = VoiceLibrary(tmp_path).voice(ANN, kept.id)
    assert (again.name, again.kind, again.tags) == ("Anna", VoiceMode.CLONE, ["calm", "low"])
    assert again.consented_at is not None
    assert again.created_at is not None


def test_its_clip_is_kept_at_24_khz_and_as_loud_as_any(library):
    quiet = AudioClip(a_clip(rate=16_000).samples * 1e-3, 16_000)
    clip = library.clip(library.keep(ANN, a_copy(), quiet))
    assert clip.sample_rate == 24_000
    assert clip.duration_s == pytest.approx(3.0, abs=0.01)
    assert np.abs(clip.samples).max() == pytest.approx(0.7, abs=0.01)


@pytest.mark.parametrize("name", ["Vivian", " vivian ", "VIVIAN", "Ｖivian"])
def test_names_of_the_engine_are_not_taken_over(library, name):
    with refused("name_reserved"):
        library.keep(ANN, a_copy(name), a_clip())
    anna = library.keep(ANN, a_copy(), a_clip())
    with refused("name_reserved"):
        library.change(ANN, anna.id, name=name)
    assert [voice.name for voice in library.voices(ANN)] == ["Anna"]


def test_a_name_with_half_a_character_is_refused_which_no_file_could_hold(library):
    anna = library.keep(ANN, a_copy(), a_clip())
    with refused("name_broken"):
        library.change(ANN, anna.id, name="Anna \ud800")
    assert library.change(ANN, anna.id, name="Anna 😀").name == "Anna 😀"


def test_tags_are_kept_each_once_and_by_the_owner_alone(tmp_path, library):
    anna = library.keep(ANN, a_copy(), a_clip())
    library.change(ANN, anna.id, tags=["calm", "German", "calm"])
    assert library.voice(ANN, anna.id).tags == ["calm", "German"]
    with refused("voice_unknown"):
        library.change(BOB, anna.id, tags=[])


def test_a_name_is_replaced_only_when_that_was_asked_for(library):
    first = library.keep(ANN, a_copy(), a_clip(220))
    with refused("name_taken"):
        library.keep(ANN, a_copy(" anna "), a_clip(440))
    second = library.keep(ANN, a_copy("anna"), a_clip(440), replace=True)
    assert [voice.id for voice in library.voices(ANN)] == [second.id]
    assert second.clip != first.clip


def test_two_people_may_use_the_same_name(library):
    mine, other = (library.keep(owner, a_copy(), a_clip()) for owner in (ANN, BOB))
    assert library.named(ANN, "ANNA").id == mine.id
    assert library.named(BOB, "anna").id == other.id


def test_the_same_clip_under_two_names_is_the_same_voice_twice(tmp_path, library):
    one, two = (library.keep(ANN, a_copy(name), a_clip()) for name in ("a", "b"))
    assert one.clip == two.clip
    assert len(clips_in(tmp_path)) == 1
    library.change(ANN, one.id, name="c")
    library.delete(ANN, one.id)
    assert np.array_equal(library.clip(two).samples, library.clip(library.named(ANN, "b")).samples)
    library.delete(ANN, two.id)
    assert clips_in(tmp_path) == []


def test_a_voice_deleted_while_in_use_is_heard_to_its_end(library):
    voice = library.keep(ANN, a_copy(), a_clip())
    clip = library.clip(voice)
    library.delete(ANN, voice.id)
    assert clip.duration_s == pytest.approx(3.0, abs=0.01)
    with refused("voice_unknown"):
        library.voice(ANN, voice.id)
    with refused("clip_lost"):
        library.clip(voice)


def test_others_see_only_what_is_shared_and_change_nothing(library):
    voice = library.keep(ANN, a_copy(), a_clip())
    assert library.voices(BOB) == []
    with refused("voice_unknown"):
        library.voice(BOB, voice.id)
    library.change(ANN, voice.id, shared=True)
    assert library.named(BOB, "Anna").id == voice.id
    for change in (
        partial(library.delete, BOB, voice.id),
        partial(library.change, BOB, voice.id, name="mine"),
        partial(library.change, BOB, voice.id, shared=False),
    ):
        with refused("voice_unknown"):
            change()


@pytest.mark.parametrize(
    ("draft", "clip", "code"),
    [
        (a_copy(), None, "clip_missing"),
        (a_copy(reference_text="   "), a_clip(), "words_missing"),
        (a_copy(consent=""), a_clip(), "consent_missing"),
        (VoiceDraft(name="x", kind=VoiceMode.NAMED), None, "speaker_missing"),
        (VoiceDraft(name="x", kind=VoiceMode.DESIGN), None, "style_missing"),
    ],
)
def test_what_could_not_be_spoken_with_is_not_kept(tmp_path, library, draft, clip, code):
    with refused(code):
        library.keep(ANN, draft, clip)
    assert library.voices(ANN) == []
    assert clips_in(tmp_path) == []


def test_a_copy_of_the_sound_alone_needs_no_words(library):
    kept = library.keep(ANN, a_copy(reference_text="", x_vector_only=True), a_clip())
    assert kept.x_vector_only


def test_a_name_is_saved_by_one_of_two_tabs(library):
    def save(pitch):
        try:
            return library.keep(ANN, a_copy(), a_clip(pitch)).id
        except VoiceRefused as refusal:
            return refusal.code

    with ThreadPoolExecutor(8) as tabs:
        outcomes = list(tabs.map(save, range(200, 1000, 100)))
    (kept,) = library.voices(ANN)
    assert sorted(outcomes) == sorted(["name_taken"] * 7 + [kept.id])


def keep_many(directory, owner):
    library = VoiceLibrary(directory)
    for number in range(20):
        voice = library.keep(owner, a_copy(f"v{number}"), a_clip())
        if number % 2:
            library.delete(owner, voice.id)


def test_several_processes_share_one_library(tmp_path, library):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=keep_many, args=(tmp_path, owner)) for owner in (ANN, BOB)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert len(library.voices(ANN)) == len(library.voices(BOB)) == 10
    assert library.clip(library.voices(ANN)[0]).duration_s > 2.9


def test_what_is_on_the_disk_is_whole_at_any_time(tmp_path, library):
    library.keep(ANN, a_copy(), a_clip())
    copy = sqlite3.connect(tmp_path / "voices.sqlite")
    assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    copy.close()
