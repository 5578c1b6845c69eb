"""Turns through vLLM-Omni itself, on a CPU, with tiny random models.

In this order: a stage is killed towards the end, and the engine that takes its place has a
checkpoint that copies voices.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from contextlib import aclosing
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
from playwright.async_api import async_playwright

from backend.contract.engine import EngineState
from backend.contract.events import (
    Outcome,
    Silence,
    SpeechChunk,
    StageStarted,
    StageTiming,
    Transcript,
)
from backend.contract.media import AudioClip
from backend.contract.turn import Exchange, Turn, TurnSettings
from backend.contract.voice import VoiceMode, VoiceSpec
from backend.engines.omni import pipeline as pipeline_module
from backend.engines.omni.sampling import SILENT_ID
from tests.browser.conftest import CHROMIUM_ARGS
from tests.browser.listening import Ear
from tests.browser.world import open_page, send
from tests.omni.calls import ask_in_a_call

pytestmark = [
    pytest.mark.omni,
    pytest.mark.skipif(find_spec("vllm_omni") is None, reason="vLLM-Omni is not installed"),
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.timeout(1200),
]

SHORT = TurnSettings(max_reply_tokens=24)
STAGES = ["hear", "think", "speak", "sound"]


@pytest.fixture
def silenced(monkeypatch):
    """The thinking stage can say nothing but its silence token."""
    plain = pipeline_module.for_reply

    def only_silence(params, max_reply_tokens):
        forced = plain(params, 1)
        forced[1].allowed_token_ids = [SILENT_ID]
        return forced

    monkeypatch.setattr(pipeline_module, "for_reply", only_silence)


async def test_the_engine_says_what_it_can_do(omni):
    await omni.until_ready()
    known = omni.thread.status.capabilities
    assert known.name == "AURA"
    assert known.sees_pictures
    assert known.voice.modes == (VoiceMode.NAMED,)
    assert known.voice.speakers[0] == "Vivian"
    assert known.sample_rate == 24_000
    assert known.max_concurrent_turns > 1


async def test_typed_words_are_answered_aloud_without_being_heard(omni):
    told = await omni.ask(text="Hello there", history=(Exchange("Hi", "Hello."),))
    assert told.end.outcome is Outcome.ANSWERED
    assert told.reply
    assert len(told.sound) > 1920
    assert np.isfinite(told.sound).all()
    assert not told.of(Transcript)
    assert [event.stage for event in told.of(StageStarted)] == ["think", "speak"]


async def test_a_recording_with_frames_goes_through_all_four_stages(omni, clip, frames):
    told = await omni.ask(audio=clip, frames=frames)
    assert told.end.outcome is Outcome.ANSWERED
    assert told.of(Transcript)[-1].final
    assert told.reply
    assert {event.sample_rate for event in told.of(SpeechChunk)} == {24_000}
    times = {event.stage: event for event in told.of(StageTiming)}
    assert list(times) == STAGES
    assert all(0 < time.first_output_s <= time.total_s for time in times.values())


async def test_text_with_frames_and_a_picture_alone_are_answered(omni, frames):
    with_frames = await omni.ask(text="What is this?", frames=frames)
    still = replace(frames, images=frames.images[:1], times_s=frames.times_s[:1], duration_s=0.0)
    alone = await omni.ask(frames=still)
    assert with_frames.end.outcome is alone.end.outcome is Outcome.ANSWERED
    assert with_frames.reply
    assert alone.reply


async def test_the_thinking_stage_reads_the_words_and_the_frames(omni, clip, frames):
    """With chunks switched on for it, it would get a prompt of a single token."""

    async def tokens_read(turn: Turn) -> int:
        pipeline = omni.engine.pipeline
        prompt = await pipeline.prompt_for(turn, "What is this?")
        params = pipeline_module.for_reply(pipeline._params, 2)
        run = pipeline.omni.run(1, prompt, f"{turn.id}-count", params)
        async with aclosing(run) as outputs:
            return len([output async for output in outputs][-1].prompt_token_ids)

    words = await omni.on_engine(tokens_read(Turn("tests", 0, text="x")))
    seen = await omni.on_engine(tokens_read(Turn("tests", 0, text="x", frames=frames)))
    assert words > 20
    assert seen > words + 2 * (2 * 3)


async def test_sentences_are_spoken_while_the_reply_is_still_being_written(omni):
    told = await omni.ask(text="Tell me more", settings=TurnSettings(max_reply_tokens=200))
    kinds = [type(event).__name__ for event in told.events]
    last_word = len(kinds) - 1 - kinds[::-1].index("ReplyText")
    assert kinds.index("SpeechChunk") < last_word


async def test_a_chosen_silence_has_no_sound_and_ends_cleanly(omni, silenced):
    told = await omni.ask(text="Hm")
    assert told.end.outcome is Outcome.SILENT
    assert told.of(Silence)
    assert not told.reply
    assert not len(told.sound)


async def test_after_five_silent_turns_the_next_one_speaks(omni, monkeypatch, request):
    request.getfixturevalue("silenced")
    for _ in range(5):
        assert (await omni.ask(text="Hm")).end.outcome is Outcome.SILENT
    monkeypatch.undo()
    assert omni.open_requests() == set()
    told = await omni.ask(text="Hello")
    assert told.end.outcome is Outcome.ANSWERED
    assert len(told.sound)


async def test_stopping_in_mid_speech_leaves_no_request_in_the_engine(omni):
    stream = omni.thread.submit(
        Turn("tests", 0, text="Tell me all", settings=TurnSettings(max_reply_tokens=400))
    )
    told = []
    async for event in stream:
        told.append(event)
        if isinstance(event, SpeechChunk) and not stream.cancelled:
            stream.cancel()
    assert told[-1].outcome is Outcome.CANCELLED
    for _ in range(100):
        if not omni.open_requests():
            break
        await asyncio.sleep(0.05)
    assert omni.open_requests() == set()
    assert (await omni.ask(text="Hello")).end.outcome is Outcome.ANSWERED


async def test_two_turns_at_once_are_both_answered(omni, clip, frames):
    first, second = await asyncio.gather(
        omni.ask(audio=clip, frames=frames), omni.ask(text="And this one?")
    )
    assert first.end.outcome is second.end.outcome is Outcome.ANSWERED
    assert len(first.sound)
    assert len(second.sound)


@pytest.mark.parametrize(
    ("voice", "words"),
    [
        (VoiceSpec(speaker="nobody"), "no such voice"),
        (VoiceSpec(mode=VoiceMode.CLONE), "cannot copy"),
        (VoiceSpec(style="x" * 501), "501 characters"),
    ],
)
async def test_a_bad_voice_is_refused_and_the_next_turn_is_fine(omni, voice, words):
    refused = await omni.ask(text="Hello", settings=replace(SHORT, voice=voice))
    assert refused.end.outcome is Outcome.FAILED
    assert words in refused.end.message
    assert (await omni.ask(text="Hello")).end.outcome is Outcome.ANSWERED


async def test_a_named_voice_with_a_style_and_tokens_speaks(omni):
    voice = VoiceSpec(speaker=" vivian ", language="en", style="warm", pass_token_ids=True)
    told = await omni.ask(text="Hello", settings=replace(SHORT, voice=voice))
    assert told.end.outcome is Outcome.ANSWERED
    assert len(told.sound)


async def test_a_script_is_spoken_as_it_is_and_nobody_thinks(omni):
    told = await omni.ask(script="Silent. So it says.", settings=SHORT)
    assert told.end.outcome is Outcome.ANSWERED
    assert told.reply == "Silent. So it says."
    assert [event.stage for event in told.of(StageStarted)] == ["speak"]
    assert len(told.sound) == 2 * 15 * 1920


async def test_the_pieces_of_a_sentence_join_to_what_is_decoded_at_once(omni):
    async def spoken(name: str, *, at_once: bool) -> list[np.ndarray]:
        pipeline = omni.engine.pipeline
        fields = pipeline.voice(Turn("tests", 0))
        prompt = pipeline.omni.input_of(2, "A sentence.", {"additional_information": fields})
        if at_once:
            for part in ("additional_information", "model_intermediate_buffer"):
                prompt[part]["full_utterance_decode"] = [True]
        async with aclosing(pipeline._run(2, prompt, name, pipeline._params)) as outputs:
            return [output.pcm async for output in outputs if len(output.pcm)]

    pieces = await omni.on_engine(spoken("pieces", at_once=False))
    [whole] = await omni.on_engine(spoken("whole", at_once=True))
    assert len(pieces) > 1
    joined = np.concatenate(pieces)
    assert len(joined) == len(whole)
    assert np.abs(joined - whole).max() < 1e-3


async def test_a_call_is_heard_ahead_seen_and_answered(omni):
    await omni.until_ready()
    told = await ask_in_a_call(omni.url)
    kinds = [message["type"] for message in told]
    assert told[-1]["outcome"] == "answered"
    assert kinds.index("omni.hearing") < kinds.index("omni.turn.created")
    (heard,) = [m for m in told if m["type"].endswith("transcription.completed")]
    assert heard["transcript"] == [m for m in told if m["type"] == "omni.hearing"][-1]["transcript"]
    assert kinds.count("response.output_audio.delta") > 1


async def test_a_question_typed_in_the_page_is_answered_aloud(omni):
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=CHROMIUM_ARGS
        )
        page = await (await browser.new_context()).new_page()
        await open_page(page, omni.url)
        ear = await Ear.listen(page)
        await send(page, "Hello")
        await ear.begun()
        assert (await page.locator(".turn .reply").inner_text()).strip()
        assert await ear.pushed() > 0
        await browser.close()


async def test_a_dead_stage_fails_its_turn_and_the_engine_is_rebuilt(omni):
    def stage_processes() -> list[int]:
        clients = omni.engine.pipeline.omni.engine.stage_clients
        return [process.pid for client in clients for process in processes_of(client)]

    stream = omni.thread.submit(
        Turn("tests", 0, text="Tell me all", settings=TurnSettings(max_reply_tokens=400))
    )
    end = None
    async for event in stream:
        if isinstance(event, SpeechChunk) and omni.thread.status.state is EngineState.READY:
            os.kill(stage_processes()[2], signal.SIGKILL)
        end = event
    assert end.outcome is Outcome.FAILED
    assert omni.thread.status.state is EngineState.LOADING
    await omni.until_ready()
    assert len(omni.engines) == 2


CLONE = VoiceSpec(
    reference_audio=AudioClip(
        np.random.default_rng(7).normal(0, 0.1, 32_000).astype(np.float32), 16_000
    ),
    reference_text="These are the words.",
)


@pytest.mark.parametrize("x_vector_only", [False, True])
async def test_a_copied_voice_speaks(omni, x_vector_only):
    assert omni.thread.status.capabilities.voice.modes == (VoiceMode.CLONE,)
    voice = replace(CLONE, x_vector_only=x_vector_only)
    told = await omni.ask(text="Hello", settings=replace(SHORT, voice=voice))
    assert told.end.outcome is Outcome.ANSWERED
    assert len(told.sound)


async def test_a_clone_without_words_is_refused_and_the_next_turn_is_fine(omni):
    refused = await omni.ask(
        text="Hello", settings=replace(SHORT, voice=replace(CLONE, reference_text=" "))
    )
    assert refused.end.outcome is Outcome.FAILED
    assert "words of the clip" in refused.end.message
    told = await omni.ask(text="Hello", settings=replace(SHORT, voice=CLONE))
    assert told.end.outcome is Outcome.ANSWERED


async def test_one_clip_under_two_requests_speaks_both_times(omni):
    """A22: the engine caches by the clip's content, and a second use must not lose it."""
    for _ in range(2):
        told = await omni.ask(text="Hello", settings=replace(SHORT, voice=CLONE))
        assert len(told.sound)


def processes_of(client) -> list:
    """The processes behind a stage's client."""
    manager = client.resources.engine_manager
    return list(manager.processes)
