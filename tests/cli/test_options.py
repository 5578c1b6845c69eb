"""The options of the command line, and what they make of a turn."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from backend.cli import __main__, asking
from backend.contract.turn import Turn
from backend.contract.voice import VoiceMode
from tests.scripted_engine import ScriptedEngine, say

ASSETS = Path(__file__).parents[2] / "assets"


@pytest.fixture
def turns(monkeypatch, tmp_path):
    """Run the command line and return the turns that reached the engine."""

    def go(*arguments: str, code: int = 0) -> list[Turn]:
        seen: list[Turn] = []
        engine = ScriptedEngine(say("Hello there."))
        run = engine.run

        def watched(turn: Turn):
            seen.append(turn)
            return run(turn)

        engine.run = watched
        monkeypatch.setattr(sys, "argv", ["cli", *arguments])
        monkeypatch.setattr(asking, "engine_factory", lambda _: lambda: engine)
        monkeypatch.chdir(tmp_path)
        assert __main__.main() == code
        return seen

    return go


def test_a_voice_of_the_model_is_chosen_by_its_options(turns):
    [turn] = turns(
        *("--text", "hi", "--task-type", "CustomVoice", "--speaker", "Vivian"),
        *("--instruct", "warm", "--voice-language", "en", "--pass-token-ids", "true"),
    )
    voice = turn.settings.voice
    assert (voice.mode, voice.speaker, voice.style) == (VoiceMode.NAMED, "Vivian", "warm")
    assert (voice.language, voice.pass_token_ids) == ("en", True)


def test_a_voice_is_copied_from_a_clip_and_its_words(turns):
    clip = str(ASSETS / "question.wav")
    [turn] = turns("--text", "hi", "--task-type", "Base", "--ref-audio", clip, "--ref-text", "Yes")
    voice = turn.settings.voice
    assert voice.mode is VoiceMode.CLONE
    assert voice.reference_audio.sample_rate == 16_000
    assert voice.reference_audio.duration_s > 1
    assert voice.reference_text == "Yes"


def test_a_clip_that_is_no_sound_is_said_to_be_none(turns, tmp_path, capsys):
    (tmp_path / "broken.wav").write_bytes(b"no sound")
    assert turns("--text", "hi", "--ref-audio", "broken.wav", code=2) == []
    assert "--ref-audio: This file cannot be read" in capsys.readouterr().err


def test_several_prompts_are_asked_at_once_and_numbered(turns, tmp_path):
    asked = turns("--text", "hi", "--num-prompts", "3", "--output-dir", "out")
    assert len({turn.id for turn in asked}) == 3
    assert sorted(file.name for file in (tmp_path / "out").glob("*.txt")) == [
        "text-1.txt",
        "text-2.txt",
        "text-3.txt",
    ]


def test_text_alone_can_be_asked_for(turns):
    [turn] = turns("--text", "hi", "--modalities", "text")
    assert turn.settings.spoken is False


def test_the_recording_is_handed_over_at_the_rate_that_was_asked_for(turns):
    [turn] = turns("--audio", str(ASSETS / "question.wav"), "--sampling-rate", "24000")
    assert turn.audio.sample_rate == 24_000


def test_frames_instructions_and_lengths_reach_the_turn(turns):
    [turn] = turns(
        *("--video", str(ASSETS / "sign.mp4"), "--max-frames", "3"),
        *("--system-prompt", "Be brief.", "--language", "en", "--max-reply-tokens", "50"),
    )
    assert len(turn.frames.images) == 3
    settings = turn.settings
    assert (settings.system_prompt, settings.language) == ("Be brief.", "en")
    assert settings.max_reply_tokens == 50


def test_the_doctor_examines_the_machine_for_the_engine_that_is_chosen(turns, capsys, monkeypatch):
    assert turns("doctor", "--engine", "embedded") == []
    assert "needs nothing" in capsys.readouterr().out
    shutil.copytree(ASSETS.parent / "deploy", "deploy")
    monkeypatch.setattr(sys, "argv", ["cli", "doctor", "--engine", "omni"])
    assert __main__.main() in {0, 1}
    assert "vllm-omni" in capsys.readouterr().out
