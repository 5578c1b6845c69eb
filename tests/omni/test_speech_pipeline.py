"""Qwen3-TTS alone, through vLLM-Omni itself, on a CPU, with one tiny random model.

One engine for all kinds of checkpoint: the talker takes what a request says for what it is, so a
checkpoint that copies voices is, after the tests of those, told to be one of the other kinds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from backend.contract.events import (
    Outcome,
    ReplyText,
    SpeechChunk,
    StageStarted,
    StageTiming,
)
from backend.contract.media import AudioClip
from backend.contract.turn import Turn, TurnSettings
from backend.contract.voice import VoiceMode, VoiceSpec
from backend.engines.omni.engine import OmniEngine
from backend.engines.omni.launch import Launch
from backend.engines.omni.sampling import for_speech
from backend.runtime.engine_thread import EngineThread
from tests.omni.conftest import Omni, Told, prepare
from tests.tiny_models import write_speech_deploy, write_tts
from tests.tiny_models.folders import SPEAKERS

pytestmark = [
    pytest.mark.omni,
    pytest.mark.skipif(find_spec("vllm_omni") is None, reason="vLLM-Omni is not installed"),
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.timeout(900),
]

WORDS = "Good morning to everybody."
FRAMES = 30
"""Codec frames of a piece: random models hardly ever end one by themselves."""


def voice_of(seed: int) -> VoiceSpec:
    noise = np.random.default_rng(seed).normal(0, 0.1, 32_000).astype(np.float32)
    return VoiceSpec(reference_audio=AudioClip(noise, 16_000), reference_text="These are words.")


CLONE, OTHER = voice_of(7), voice_of(8)
NAMED = VoiceSpec(speaker="ryan", style="warm")
DESIGN = VoiceSpec(mode=VoiceMode.DESIGN, style="An old sailor, hoarse and slow.")


@pytest.fixture(scope="module")
def speech(tmp_path_factory) -> Iterator[Omni]:
    """A running engine with two places, of a checkpoint that copies voices."""
    prepare()
    folder = tmp_path_factory.mktemp("speech")
    tts = write_tts(folder / "tts", "Base", speakers=SPEAKERS)
    deploy = write_speech_deploy(folder / "deploy.yaml", tts, speech_tokens=FRAMES)
    engines: list[OmniEngine] = []

    def make() -> OmniEngine:
        engines.append(OmniEngine(Launch(deploy)))
        return engines[-1]

    thread = EngineThread(make, stall_timeout_s=120)
    thread.start()
    yield Omni("", thread, engines)
    thread.close()


async def say(speech: Omni, voice: VoiceSpec, script: str = WORDS, seed: int | None = 1) -> Told:
    return await speech.ask(script=script, settings=TurnSettings(voice=voice, seed=seed))


def become(speech: Omni, kind: str) -> None:
    """Have the engine take its checkpoint for one of this kind."""
    pipeline = speech.engine.pipeline
    pipeline.checkpoint = replace(pipeline.checkpoint, kind=kind, styled=True)
    speech.engine._capabilities = pipeline.describe()


async def test_the_engine_says_that_it_only_speaks_texts(speech):
    await speech.until_ready()
    known = speech.thread.status.capabilities
    assert known.recites
    assert not known.answers
    assert not known.hears_ahead
    assert known.max_concurrent_turns == 2
    assert known.voice.modes == (VoiceMode.CLONE,)
    assert known.voice.style_chars == 0


async def test_a_copied_voice_speaks_while_its_sound_is_made(speech):
    told = await say(speech, CLONE)
    assert told.end.outcome is Outcome.ANSWERED
    assert told.reply == WORDS
    assert {event.sample_rate for event in told.of(SpeechChunk)} == {24_000}
    assert len(told.of(SpeechChunk)) > 1
    assert len(told.sound) == (FRAMES - 1) * 1920
    assert np.abs(told.sound).max() > 0.01
    assert [event.stage for event in told.of(StageStarted)] == ["speak"]
    assert [event.stage for event in told.of(StageTiming)] == ["speak", "sound"]


async def test_a_seed_makes_the_same_take_again_and_another_one_another(speech):
    first, again, other = [(await say(speech, CLONE, seed=s)).sound for s in (1, 1, 2)]
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


async def test_two_copied_voices_at_once_are_what_each_is_alone(speech):
    """Sample for sample, but for what another CPU may round otherwise with two at once."""
    alone = [(await say(speech, voice)).sound for voice in (CLONE, OTHER)]
    assert not np.array_equal(*alone)
    told = await asyncio.gather(say(speech, CLONE), say(speech, OTHER))
    times = [[event.at for event in one.of(SpeechChunk)] for one in told]
    assert max(at[0] for at in times) < min(at[-1] for at in times)
    for one, both in zip(alone, told, strict=True):
        assert len(both.sound) == len(one)
        assert np.abs(both.sound - one).max() < 1e-5


async def test_the_sound_of_a_voice_is_copied_without_words(speech):
    told = await say(speech, replace(CLONE, reference_text="", x_vector_only=True))
    assert told.end.outcome is Outcome.ANSWERED
    assert len(told.sound)


async def test_a_long_script_is_spoken_piece_by_piece_to_its_end(speech):
    script = "One is said first. Then comes two, and more.\n\n**Three** is bold!\n- Four\n- Five."
    told = await say(speech, CLONE, script)
    pieces = [event.delta for event in told.of(ReplyText)]
    assert "".join(pieces) == script
    assert len(pieces) > 3
    assert len(told.sound) == len(pieces) * (FRAMES - 1) * 1920
    first = await say(speech, CLONE, pieces[0])
    assert np.array_equal(told.sound[: len(first.sound)], first.sound)


async def test_a_piece_has_room_for_slow_speech_but_not_for_endless_speech():
    from vllm.sampling_params import SamplingParams

    params = [SamplingParams(max_tokens=4096, min_tokens=2), SamplingParams(max_tokens=65_536)]
    short, sound = for_speech(params, 0, "Hello.", TurnSettings())
    assert short.max_tokens == 200
    assert sound is params[1]
    assert params[0].max_tokens == 4096
    [long, _] = for_speech(params, 0, "x" * 400, TurnSettings(seed=5, temperature=0.5))
    assert (long.max_tokens, long.seed, long.temperature) == (4096, 5, 0.5)


REFUSED = [
    (replace(CLONE, reference_text=" "), {}, "Write down the words"),
    (replace(CLONE, reference_audio=None), {}, "Add a clip"),
    (replace(CLONE, reference_audio=AudioClip(np.zeros(32_000, np.float32), 16_000)), {}, "hardly"),
    (replace(CLONE, reference_audio=AudioClip(np.ones(800, np.float32), 16_000)), {}, "0.1 s"),
    (replace(CLONE, speaker="nobody"), {}, "no voices of its own"),
    (replace(CLONE, style="slow"), {}, "does not follow a style"),
    (replace(CLONE, language="sv"), {}, "does not speak Swedish"),
    (CLONE, {"script": "?!"}, "no words"),
    (CLONE, {"script": "", "text": "Who are you?"}, "answers no questions"),
]


async def test_what_a_stage_could_choke_on_is_refused_and_the_next_text_is_spoken(speech):
    for voice, asked, words in REFUSED:
        turn: dict[str, Any] = {"script": WORDS, "settings": TurnSettings(voice=voice)} | asked
        refused = await speech.ask(**turn)
        assert refused.end.outcome is Outcome.FAILED
        assert refused.end.refusal
        assert words in refused.end.message
    assert len((await say(speech, CLONE)).sound)


async def test_stopping_leaves_nothing_at_work(speech):
    script = " ".join(f"This is sentence number {number}." for number in range(40))
    turn = Turn("tests", 0, script=script, settings=TurnSettings(voice=CLONE))
    stream = speech.thread.submit(turn)
    told = []
    async for event in stream:
        told.append(event)
        if isinstance(event, SpeechChunk) and not stream.cancelled:
            stream.cancel()
    assert told[-1].outcome is Outcome.CANCELLED
    assert told[-1].at - [e for e in told if isinstance(e, SpeechChunk)][-1].at < 2
    for _ in range(100):
        if not speech.open_requests():
            break
        await asyncio.sleep(0.05)
    assert speech.open_requests() == set()
    assert len((await say(speech, CLONE)).sound)


async def test_a_named_voice_speaks_in_a_style(speech):
    become(speech, "CustomVoice")
    told, plain = await say(speech, NAMED), await say(speech, replace(NAMED, style=""))
    assert len(told.sound) == len(plain.sound) == (FRAMES - 1) * 1920
    assert not np.array_equal(told.sound, plain.sound)
    unknown = await say(speech, replace(NAMED, speaker="nobody"))
    assert "no such voice" in unknown.end.message
    endless = await say(speech, replace(NAMED, style="x" * 501))
    assert "501 characters" in endless.end.message
    assert len((await say(speech, NAMED)).sound)


async def test_a_description_makes_a_voice(speech):
    become(speech, "VoiceDesign")
    assert speech.engine.capabilities.voice.modes == (VoiceMode.DESIGN,)
    told, other = await say(speech, DESIGN), await say(speech, replace(DESIGN, style="A child."))
    assert len(told.sound) == (FRAMES - 1) * 1920
    assert not np.array_equal(told.sound, other.sound)
    refused = await say(speech, replace(DESIGN, style=" "))
    assert "Describe the voice" in refused.end.message
    assert len((await say(speech, DESIGN)).sound)
