"""The pipeline without the page."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
import soundfile

from backend.cli import asking
from backend.conversation.pcm import to_pcm16
from tests.scripted_engine import RATE, ScriptedEngine, die, say, stay_silent, tone

ASSETS = Path(__file__).parents[2] / "assets"


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run the command line on a scripted engine; returns its exit code."""

    def go(*arguments, script=None) -> int:
        monkeypatch.setattr(sys, "argv", ["cli", *arguments])
        engine = ScriptedEngine(script or say("Hello there."))
        monkeypatch.setattr(asking, "engine_factory", lambda _: lambda: engine)
        monkeypatch.chdir(tmp_path)
        return asking.ask_by_files()

    return go


def test_a_recording_gives_a_text_and_a_sound_and_the_times(run, tmp_path, capsys):
    assert run("--audio", str(ASSETS / "question.wav"), "--output-dir", "out") == 0
    assert (tmp_path / "out" / "question.txt").read_text() == "Hello there."
    samples, rate = soundfile.read(tmp_path / "out" / "question.wav", dtype="int16")
    assert (samples.tobytes(), rate) == (to_pcm16(tone(0.6)), RATE)
    printed = capsys.readouterr().out
    assert "scripted words" in printed
    assert "first_sound" in printed


def test_a_folder_gives_one_reply_for_each_clip(run, tmp_path):
    folder = tmp_path / "clips"
    folder.mkdir()
    for name in ("question.wav", "sign.mp4", "silence.wav", "README.md"):
        shutil.copy(ASSETS / name, folder)
    assert run("--audio", str(folder), "--output-dir", "out") == 0
    names = sorted(path.name for path in (tmp_path / "out").glob("*.txt"))
    assert names == ["question.txt", "sign.txt", "silence.txt"]


def test_typed_words_alone_are_a_turn(run, tmp_path):
    assert run("--text", "hi", "--output-dir", "out") == 0
    assert (tmp_path / "out" / "text.txt").read_text() == "Hello there."


def test_a_silent_turn_writes_no_sound(run, tmp_path):
    assert run("--text", "hi", "--output-dir", "out", script=stay_silent) == 0
    assert not (tmp_path / "out" / "text.wav").exists()


def test_a_bad_file_is_named_and_the_others_go_on(run, tmp_path, capsys):
    folder = tmp_path / "clips"
    folder.mkdir()
    (folder / "a.wav").write_bytes(b"no sound")
    (folder / "b.wav").write_bytes((ASSETS / "question.wav").read_bytes())
    assert run("--audio", str(folder), "--output-dir", "out") == 1
    assert "a: This file cannot be read" in capsys.readouterr().err
    assert (tmp_path / "out" / "b.txt").exists()


def test_a_failed_turn_is_a_failure(run):
    assert run("--text", "hi", script=die) == 1


def test_a_reply_never_overwrites_the_question(run, tmp_path, capsys):
    question = tmp_path / "question.wav"
    question.write_bytes((ASSETS / "question.wav").read_bytes())
    before = question.read_bytes()
    assert run("--audio", str(question), "--output-dir", str(tmp_path)) == 2
    assert question.read_bytes() == before
    assert "overwrite" in capsys.readouterr().err


def test_an_empty_folder_is_said_to_be_empty(run, tmp_path, capsys):
    (tmp_path / "none").mkdir()
    assert run("--audio", "none") == 2
    assert "No clips" in capsys.readouterr().err
