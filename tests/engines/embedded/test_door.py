"""What the engine refuses before any model sees it."""

from __future__ import annotations

import numpy as np
import pytest

from backend.contract.errors import TurnRefused
from backend.contract.media import AudioClip, VideoFrames
from backend.contract.turn import TurnSettings
from backend.contract.voice import VoiceMode, VoiceSpec
from tests.engines.embedded.doubles import FakeRecognizer, a_turn, events_of


def clip_of(values):
    return AudioClip(np.asarray(values, np.float32), 16_000)


def settings(**chosen):
    return {"text": "Hello", "settings": TurnSettings(**chosen)}


@pytest.mark.parametrize(
    ("parts", "code", "field"),
    [
        ({}, "empty_turn", "turn"),
        ({"text": "  \n"}, "empty_turn", "turn"),
        ({"audio": clip_of([])}, "audio_empty", "audio"),
        ({"audio": clip_of([np.nan] * 16_000)}, "audio_not_finite", "audio"),
        ({"audio": clip_of([np.inf] * 16_000)}, "audio_not_finite", "audio"),
        ({"audio": AudioClip(np.zeros((9, 2), np.float32), 16_000)}, "audio_format", "audio"),
        ({"audio": AudioClip(np.zeros(9, np.float32), 0)}, "audio_format", "audio"),
        (
            {"frames": VideoFrames(np.zeros((0, 4, 4, 3), np.uint8), np.zeros(0), 0.0)},
            "frames_format",
            "video",
        ),
        (settings(voice_speed=0.4), "voice_speed", "settings"),
        (settings(voice_speed=2.1), "voice_speed", "settings"),
        (settings(voice_speed=float("nan")), "voice_speed", "settings"),
        (settings(voice_pitch=-6.1), "voice_pitch", "settings"),
        (settings(voice_pitch=6.1), "voice_pitch", "settings"),
        (settings(voice_pitch=float("nan")), "voice_pitch", "settings"),
        (settings(max_reply_tokens=0), "reply_tokens", "settings"),
        (settings(max_reply_tokens=100_000), "reply_tokens", "settings"),
        (settings(voice=VoiceSpec(speaker="nobody")), "unknown_voice", "settings"),
        (settings(voice=VoiceSpec(mode=VoiceMode.CLONE)), "voice_mode", "settings"),
        (
            {"audio": clip_of([0.0] * 9), "settings": TurnSettings(language="xx")},
            "unknown_language",
            "settings",
        ),
    ],
)
async def test_a_turn_that_no_stage_can_take_is_refused(loaded, parts, code, field):
    engine = await loaded()
    with pytest.raises(TurnRefused) as refusal:
        await events_of(engine, a_turn(**parts))
    assert (refusal.value.code, refusal.value.field) == (code, field)
    assert await events_of(engine, a_turn(text="Hello"))


@pytest.mark.parametrize(
    "chosen", [{"voice": VoiceSpec(speaker="double")}, {"language": "en"}, {"language": "auto"}]
)
async def test_a_voice_and_a_language_of_the_engine_are_taken(loaded, chosen):
    assert await events_of(await loaded(), a_turn(**settings(**chosen)))


@pytest.mark.parametrize(
    ("known", "words"),
    [
        (
            ("en",),
            "This engine understands only English speech. Choose Automatic or English under"
            " Settings.",
        ),
        (
            ("auto", "en", "fr"),
            "This engine does not understand German speech. Choose Automatic under Settings.",
        ),
    ],
)
async def test_speech_in_an_unknown_language_is_refused_with_what_to_change(loaded, known, words):
    recognizer = FakeRecognizer()
    recognizer.languages = known
    engine = await loaded(recognizer=recognizer)
    chosen = TurnSettings(language="de")
    with pytest.raises(TurnRefused) as refusal:
        await events_of(engine, a_turn(audio=clip_of([0.0] * 9), settings=chosen))
    assert refusal.value.message == words


async def test_a_typed_turn_is_taken_in_whatever_language_is_chosen_for_speech(loaded):
    assert await events_of(await loaded(), a_turn(**settings(language="de")))
