"""The engine around the pipeline: its turns end with it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from backend.contract.engine import Capabilities
from backend.contract.errors import EngineFailed, TurnRefused
from backend.contract.events import Notice, ReplyText, StageStarted
from backend.contract.media import AudioClip
from backend.contract.turn import Turn, TurnSettings
from backend.contract.voice import VoiceControls
from backend.conversation.sentences import MAX_PIECE_CHARS
from backend.engines.failures import StageFailed
from backend.engines.omni.engine import OmniEngine
from backend.engines.omni.sampling import speech_limit_s
from tests.engines.omni.doubles import ScriptedPipeline


class ScriptedLaunch:
    """Starts nothing, and notes that it was told to stop."""

    stopped = False

    async def stop(self, omni: object) -> None:
        self.stopped = True


@pytest.fixture
def engine():
    """A loaded engine on a scripted pipeline; ``engine.ill`` says whether a stage is dead."""
    engine = OmniEngine(ScriptedLaunch())

    async def check_health() -> None:
        if engine.ill:
            raise RuntimeError("dead")

    engine.ill = False
    engine._omni = SimpleNamespace(check_health=check_health)
    engine._pipeline = ScriptedPipeline()
    engine._capabilities = Capabilities(
        name="AURA",
        summary="",
        sees_pictures=True,
        languages=("auto",),
        voice=VoiceControls(speakers=("Vivian",)),
        sample_rate=24_000,
        recites=True,
    )
    return engine


async def told(engine: OmniEngine, **turn: object) -> list[object]:
    return [event async for event in engine.run(Turn("session", 0, **turn))]


async def test_a_turn_of_an_engine_that_is_closed_for_another_ones_sake_ends_at_once(engine):
    engine._pipeline.on_word = asyncio.Event().wait
    turn = asyncio.create_task(told(engine, text="Hi"))
    await asyncio.sleep(0.05)
    await engine.close()
    with pytest.raises(EngineFailed):
        await asyncio.wait_for(turn, 5)
    assert engine._pipeline.running == set()
    assert engine._launch.stopped


async def test_a_dead_stage_is_found_before_the_turn_begins(engine):
    engine.ill = True
    with pytest.raises(EngineFailed, match="stage"):
        await told(engine, text="Hi")
    assert engine._pipeline.questions == []


async def test_a_stage_that_dies_while_it_speaks_fails_the_turn(engine):
    async def die(_: str) -> None:
        engine.ill = True
        raise RuntimeError("talker")

    engine._pipeline.on_speak = die
    with pytest.raises(EngineFailed):
        await told(engine, text="Hi")


async def test_a_turn_out_of_bounds_reaches_no_model(engine):
    with pytest.raises(TurnRefused):
        await told(engine, text="Hi", settings=TurnSettings(max_reply_tokens=0))
    assert engine._pipeline.questions == []


@pytest.mark.parametrize(
    ("turn", "code"),
    [
        ({"text": "Who are you?"}, "only_scripts"),
        ({}, "only_scripts"),
        ({"script": "Hi.", "text": "Hi."}, "script_and_question"),
        ({"script": "..."}, "nothing_to_say"),
        ({"script": "Hi.", "settings": TurnSettings(seed=-1)}, "seed"),
        ({"script": "Hi.", "settings": TurnSettings(seed=2**32)}, "seed"),
        ({"script": "Hi.", "settings": TurnSettings(voice_pitch=3)}, "pitch_fixed"),
        ({"script": "Hi.", "settings": TurnSettings(temperature=0.0)}, "temperature"),
        ({"script": "Hi.", "settings": TurnSettings(temperature=2.5)}, "temperature"),
    ],
)
async def test_an_engine_that_only_speaks_takes_nothing_else(engine, turn, code):
    engine._capabilities = replace(engine.capabilities, answers=False)
    with pytest.raises(TurnRefused) as refusal:
        await told(engine, **turn)
    assert refusal.value.code == code
    assert engine._pipeline.spoken == []


async def test_a_script_is_spoken_as_it_is_and_nobody_thinks(engine):
    script = "One is **first**. Then comes two!\n\n```\nthree = 3\n```\n---\nFour"
    events = await told(engine, script=script, settings=TurnSettings(seed=7, temperature=0.5))
    assert "".join(e.delta for e in events if isinstance(e, ReplyText)) == script
    spoken = ["One is first.", "Then comes two!", "three equals 3", "Four"]
    assert engine._pipeline.spoken == spoken
    assert engine._pipeline.drawn == [(7, 0.5)] * 4
    assert engine._pipeline.questions == []
    assert [e.stage for e in events if isinstance(e, StageStarted)] == ["speak"]


async def test_a_block_that_is_too_long_to_speak_at_once_is_cut(engine):
    code = " ".join(f"word{number}" for number in range(200))
    await told(engine, script=f"```\n{code}\n```")
    spoken = engine._pipeline.spoken
    assert " ".join(spoken) == code
    assert max(map(len, spoken)) <= MAX_PIECE_CHARS


async def test_a_script_with_a_piece_that_cannot_be_spoken_fails(engine):
    async def fail_at_two(words: str) -> None:
        if "Two" in words:
            raise RuntimeError("talker")

    engine._pipeline.on_speak = fail_at_two
    with pytest.raises(StageFailed, match="voice failed"):
        await told(engine, script="One. Two. Three.")
    assert engine._pipeline.spoken == ["One.", "Two."]
    assert engine._pipeline.running == set()


async def test_a_piece_that_comes_to_nothing_is_not_passed_over(engine):
    engine._pipeline.chunks = 0
    with pytest.raises(StageFailed, match="before there was any sound"):
        await told(engine, script="One. Two.")
    events = await told(engine, text="Hi")
    assert [e.code for e in events if isinstance(e, Notice)] == ["speech_failed"]


def test_the_longest_speech_leaves_room_for_slow_delivery():
    words = "x" * MAX_PIECE_CHARS
    assert speech_limit_s("Hi.") > 10
    assert speech_limit_s(words) > 10 * MAX_PIECE_CHARS / 15


async def test_an_engine_that_is_not_loaded_is_not_healthy():
    with pytest.raises(EngineFailed):
        await OmniEngine(ScriptedLaunch()).health()


async def test_words_are_heard_outside_any_turn(engine):
    assert await engine.hear(a_clip(3.0), "auto") == "A question."
    assert engine._pipeline.running == set()


async def test_who_waits_to_be_heard_is_told_when_the_engine_is_closed(engine):
    engine._pipeline.on_hear = asyncio.Event().wait
    hearing = asyncio.create_task(engine.hear(a_clip(1.0), "en"))
    await asyncio.sleep(0.05)
    await engine.close()
    with pytest.raises(EngineFailed):
        await asyncio.wait_for(hearing, 5)
    assert engine._pipeline.running == set()


async def test_a_long_clip_is_heard_in_pieces_and_a_quiet_one_not_at_all(engine):
    assert await engine.hear(a_clip(70.0), "en") == "A question. A question. A question."
    quiet = AudioClip(np.zeros(16_000, np.float32), 16_000)
    assert await engine.hear(quiet, "en") == ""
    assert len(engine._pipeline.clips) == 3


async def test_a_dead_engine_hears_nothing(engine):
    engine.ill = True
    with pytest.raises(EngineFailed):
        await engine.hear(a_clip(1.0), "en")


def a_clip(seconds: float) -> AudioClip:
    noise = np.random.default_rng(0).normal(0, 0.1, int(16_000 * seconds))
    return AudioClip(noise.astype(np.float32), 16_000)
