"""Voices leave in one zip and come back from it, and from no other file."""

from __future__ import annotations

import json
import tracemalloc
import zipfile
from datetime import UTC, datetime

import numpy as np
import pytest

from backend.voices import portable
from backend.voices.clips import as_wav
from backend.voices.library import VoiceLibrary
from backend.voices.portable import MANIFEST, export_voices, import_voices
from tests.voices.test_library import ANN, BOB, a_clip, a_copy, refused


@pytest.fixture
def library(tmp_path):
    opened = VoiceLibrary(tmp_path / "library")
    yield opened
    opened.close()


@pytest.fixture
def zip_of(tmp_path):
    def make(manifest, **files):
        path = tmp_path / "made.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in ({MANIFEST: manifest} | files).items():
                text = data if isinstance(data, bytes | str) else json.dumps(data)
                archive.writestr(name, text)
        return path

    return make


def export(library, path):
    with path.open("wb") as file:
        export_voices(library, library.voices(ANN), file)


def test_voices_come_back_as_they_left(tmp_path, library):
    for name in ("Anna", "Again"):
        library.keep(ANN, a_copy(name, tags=("calm",)), a_clip())
    path = tmp_path / "voices.zip"
    export(library, path)
    assert len(zipfile.ZipFile(path).namelist()) == 2  # the manifest, and the one clip
    back = import_voices(library, BOB, path)
    assert [(name, voice.name) for name, voice in back.kept] == [("Again",) * 2, ("Anna",) * 2]
    before, after = library.named(ANN, "anna"), library.named(BOB, "anna")
    assert (after.tags, after.consent, after.reference_text) == (
        before.tags,
        before.consent,
        before.reference_text,
    )
    sounds = [library.clip(voice).samples for voice in (before, after)]
    assert np.allclose(*sounds, atol=1e-3)


def test_a_name_that_is_taken_gets_a_number(tmp_path, library):
    library.keep(ANN, a_copy(), a_clip())
    path = tmp_path / "voices.zip"
    export(library, path)
    names = [import_voices(library, ANN, path).kept[0] for _ in range(2)]
    assert [(before, voice.name) for before, voice in names] == [
        ("Anna", "Anna (2)"),
        ("Anna", "Anna (3)"),
    ]
    assert [voice.name for voice in library.voices(ANN)] == ["Anna", "Anna (2)", "Anna (3)"]


def test_voices_of_one_name_are_each_kept_at_the_first_try(library, zip_of, monkeypatch):
    names = ["Anna", "ANNA", "Anna (3)", "anna"]
    tries = []
    keep = library.keep

    def counted(owner, draft, *args, **options):
        tries.append(draft.name)
        return keep(owner, draft, *args, **options)

    monkeypatch.setattr(library, "keep", counted)
    voices = [{"voice": A_COPY | {"name": name}, "clip": "a.wav"} for name in names]
    imported = import_voices(
        library, ANN, zip_of({"voices": voices}, **{"a.wav": as_wav(a_clip())})
    )
    assert [voice.name for _, voice in imported.kept] == tries
    assert tries == ["Anna", "ANNA (2)", "Anna (3)", "anna (4)"]


def test_the_day_of_consent_travels_along(tmp_path, library, zip_of):
    given = datetime(2024, 2, 29, 12, 30, tzinfo=UTC)
    library.keep(ANN, a_copy(), a_clip(), consented_at=given)
    path = tmp_path / "voices.zip"
    export(library, path)
    ((_, voice),) = import_voices(library, BOB, path).kept
    assert library.voice(BOB, voice.id).consented_at == given


def test_a_voice_of_an_older_zip_is_agreed_to_when_it_is_kept(library, zip_of):
    manifest = {"voices": [{"voice": A_COPY, "clip": "a.wav"}]}
    before = datetime.now(UTC)
    ((_, voice),) = import_voices(
        library, BOB, zip_of(manifest, **{"a.wav": as_wav(a_clip())})
    ).kept
    assert before <= library.voice(BOB, voice.id).consented_at <= datetime.now(UTC)


def test_a_voice_takes_the_place_of_another_only_when_that_is_asked_for(tmp_path, library):
    before = library.keep(ANN, a_copy(), a_clip())
    path = tmp_path / "voices.zip"
    export(library, path)
    ((_, after),) = import_voices(library, ANN, path, replace=True).kept
    assert [voice.id for voice in library.voices(ANN)] == [after.id]
    assert after.id != before.id


def test_the_engines_own_names_stay_its_own(tmp_path, zip_of):
    library = VoiceLibrary(tmp_path / "other", lambda: ("Anna",))
    manifest = {"voices": [{"voice": A_COPY, "clip": "a.wav"}]}
    path = zip_of(manifest, **{"a.wav": as_wav(a_clip())})
    ((_, voice),) = import_voices(library, ANN, path, replace=True).kept
    assert voice.name == "Anna (2)"
    library.close()


def test_a_voice_whose_recording_is_lost_is_named(tmp_path, library):
    voice = library.keep(ANN, a_copy(), a_clip())
    (tmp_path / "library" / "clips" / voice.clip).unlink()
    with refused("clip_lost") as lost:
        export(library, tmp_path / "voices.zip")
    assert lost.value.message.startswith("Anna: ")


A_COPY = a_copy().model_dump(mode="json")


@pytest.mark.parametrize(
    "manifest",
    [
        "no JSON",
        {"version": 2, "voices": []},
        {"voices": [{"voice": {"name": ""}}]},
        {"voices": [{"voice": A_COPY | {"owner": "root"}}]},
        {"voices": [{"voice": A_COPY, "consented_at": "0001-01-01T00:00:00+12:00"}]},
    ],
)
def test_a_zip_that_is_none_of_voices_is_refused(library, zip_of, manifest):
    with refused("zip_unreadable"):
        import_voices(library, ANN, zip_of(manifest))
    assert library.voices(ANN) == []


@pytest.mark.parametrize(
    ("changed", "clip", "code"),
    [
        ({}, "../../etc/passwd", "clip_damaged"),
        ({}, "no_sound.wav", "clip_damaged"),
        ({}, "", "clip_missing"),
        ({"consent": ""}, "a.wav", "consent_missing"),
        ({"reference_text": ""}, "a.wav", "words_missing"),
    ],
)
def test_a_voice_that_cannot_be_used_is_told_and_the_others_come_in(
    library, zip_of, changed, clip, code
):
    good = {"voice": A_COPY | {"name": "Good"}, "clip": "a.wav"}
    manifest = {"voices": [{"voice": A_COPY | changed, "clip": clip}, good]}
    files = {"a.wav": as_wav(a_clip()), "no_sound.wav": b"RIFF no sound"}
    imported = import_voices(library, ANN, zip_of(manifest, **files))
    assert [(name, refusal.code) for name, refusal in imported.refused] == [("Anna", code)]
    assert [voice.name for voice in library.voices(ANN)] == ["Good"]


def test_no_more_is_unpacked_than_a_clip_may_have(library, zip_of, monkeypatch):
    monkeypatch.setattr(portable, "_MAX_CLIP_BYTES", 1000)
    manifest = {"voices": [{"voice": A_COPY, "clip": "a.wav"}]}
    imported = import_voices(library, ANN, zip_of(manifest, **{"a.wav": as_wav(a_clip())}))
    assert [refusal.code for _, refusal in imported.refused] == ["clip_damaged"]


def test_one_clip_is_not_unpacked_again_and_again(library, zip_of, monkeypatch):
    wav = as_wav(a_clip())
    monkeypatch.setattr(portable, "_MAX_BYTES", 2 * len(wav))
    manifest = {"voices": 3 * [{"voice": A_COPY, "clip": "a.wav"}]}
    with refused("zip_unreadable"):
        import_voices(library, ANN, zip_of(manifest, **{"a.wav": wav}))
    assert len(library.voices(ANN)) <= 2


def test_a_zip_that_lies_about_what_it_unpacks_to_is_not_unpacked(library, zip_of):
    manifest = {"voices": [{"voice": A_COPY, "clip": "a.wav"}]}
    path = zip_of(manifest, **{"a.wav": bytes(50_000_000)})
    data = path.read_bytes()
    assert len(data) < 100_000
    path.write_bytes(data.replace((50_000_000).to_bytes(4, "little"), (1000).to_bytes(4, "little")))
    tracemalloc.start()
    imported = import_voices(library, ANN, path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [refusal.code for _, refusal in imported.refused] == ["clip_damaged"]
    assert most < 5_000_000


def test_a_zip_of_files_without_end_is_not_opened(library, zip_of):
    files = {f"{number:01000}": b"" for number in range(1000)}
    with refused("zip_unreadable"):
        import_voices(library, ANN, zip_of({"voices": []}, **files))
    assert library.voices(ANN) == []


@pytest.mark.parametrize("packed", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_recording_packed_in_a_rare_way_is_told_and_the_others_come_in(library, tmp_path, packed):
    clips = {name: as_wav(a_clip()) for name in ("a.wav", "b.wav", "c.wav")}
    voices = [{"voice": A_COPY | {"name": name[0]}, "clip": name} for name in clips]
    path = tmp_path / "voices.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(MANIFEST, json.dumps({"voices": voices}))
        for name, wav in clips.items():
            archive.writestr(name, wav, packed if name == "b.wav" else zipfile.ZIP_DEFLATED)
    imported = import_voices(library, ANN, path)
    assert [name for name, _ in imported.kept] == ["a", "c"]
    assert [(name, refusal.code) for name, refusal in imported.refused] == [("b", "clip_damaged")]


def test_a_damaged_name_of_a_recording_is_told_and_the_others_come_in(library, zip_of):
    voices = [{"voice": A_COPY | {"name": name}, "clip": f"{name}.wav"} for name in ("a", "ü")]
    path = zip_of({"voices": voices}, **{f"{name}.wav": as_wav(a_clip()) for name in ("a", "ü")})
    name = "ü.wav".encode()
    path.write_bytes(path.read_bytes().replace(name, b"\xff\xff.wav", 1))  # not in the directory
    imported = import_voices(library, ANN, path)
    assert [name for name, _ in imported.kept] == ["a"]
    assert [(name, refusal.code) for name, refusal in imported.refused] == [("ü", "clip_damaged")]


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        pytest.param("ü".encode(), b"\xff\xff", id="name"),
        pytest.param(b"PK\1\2\x14\3\x14", b"PK\1\2\x14\3\xff", id="version"),
    ],
)
def test_a_zip_with_a_damaged_directory_is_refused(library, zip_of, good, bad):
    path = zip_of({"voices": []}, ü=b"")
    data = path.read_bytes()
    assert good in data
    path.write_bytes(data.replace(good, bad))
    with refused("zip_unreadable"):
        import_voices(library, ANN, path)


@pytest.mark.parametrize("data", [b"", b"PK", b"not a zip at all, and longer than the end of one"])
def test_a_file_of_another_kind_is_refused(library, tmp_path, data):
    path = tmp_path / "voices.zip"
    path.write_bytes(data)
    with refused("zip_unreadable"):
        import_voices(library, ANN, path)
    assert library.voices(ANN) == []
