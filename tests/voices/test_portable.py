"""Voices leave in one zip and come back from it, and from no other file."""

from __future__ import annotations

import json
import zipfile

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


def test_voices_come_back_as_they_left(tmp_path, library):
    for name in ("Anna", "Again"):
        library.keep(ANN, a_copy(name, tags=("calm",)), a_clip())
    path = tmp_path / "voices.zip"
    path.write_bytes(export_voices(library, library.voices(ANN)))
    assert len(zipfile.ZipFile(path).namelist()) == 2  # the manifest, and the one clip
    back = import_voices(library, BOB, path)
    assert [voice.name for voice in back] == ["Again", "Anna"]
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
    path.write_bytes(export_voices(library, library.voices(ANN)))
    for _ in range(2):
        import_voices(library, ANN, path)
    assert [voice.name for voice in library.voices(ANN)] == ["Anna", "Anna (2)", "Anna (3)"]


A_COPY = a_copy().model_dump(mode="json")


@pytest.mark.parametrize(
    ("manifest", "files"),
    [
        ("no JSON", {}),
        ({"version": 2, "voices": []}, {}),
        ({"voices": [{"voice": {"name": ""}}]}, {}),
        ({"voices": [{"voice": A_COPY, "clip": "../../etc/passwd"}]}, {}),
        ({"voices": [{"voice": A_COPY, "clip": "a.wav"}]}, {"a.wav": b"RIFF no sound"}),
        ({"voices": [{"voice": A_COPY | {"owner": "root"}}]}, {}),
    ],
)
def test_a_zip_that_is_none_of_voices_is_refused(library, zip_of, manifest, files):
    with refused("zip_unreadable" if "a.wav" not in files else "clip_damaged"):
        import_voices(library, ANN, zip_of(manifest, **files))
    assert library.voices(ANN) == []


def test_a_voice_without_consent_is_not_brought_in(library, zip_of):
    manifest = {"voices": [{"voice": A_COPY | {"consent": ""}, "clip": "a.wav"}]}
    with refused("consent_missing"):
        import_voices(library, ANN, zip_of(manifest, **{"a.wav": as_wav(a_clip())}))
    assert library.voices(ANN) == []


def test_no_more_is_unpacked_than_a_clip_may_have(library, zip_of, monkeypatch):
    monkeypatch.setattr(portable, "_MAX_CLIP_BYTES", 1000)
    manifest = {"voices": [{"voice": A_COPY, "clip": "a.wav"}]}
    with refused("zip_unreadable"):
        import_voices(library, ANN, zip_of(manifest, **{"a.wav": bytes(1_000_000)}))
    assert library.voices(ANN) == []


def test_a_file_of_another_kind_is_refused(library, tmp_path):
    path = tmp_path / "voices.zip"
    path.write_bytes(b"not a zip at all")
    with refused("zip_unreadable"):
        import_voices(library, ANN, path)
    assert library.voices(ANN) == []
