"""Tasks on the built-in models: speech made by the voice goes in, words and speech come out."""

from __future__ import annotations

import re

import numpy as np
import pytest

from backend.contract.events import Captions, ReplyText, SpeechChunk, Transcript
from backend.contract.media import AudioClip
from backend.contract.tasks import EarlierTurn, TaskRequest
from backend.contract.turn import TurnSettings
from tests.engines.embedded.doubles import a_turn, events_of, only

pytestmark = [pytest.mark.embedded, pytest.mark.asyncio(loop_scope="session")]

WORDS = "The weather today is cold and rainy. Open the window, it is warm in here."


@pytest.fixture
def ask(real_engine, monkeypatch):
    """Ask the engine for a task; returns the events."""
    # Its voice says a text the same way each time: of a hundred ways, some are misheard.
    own = real_engine._crew.voice._voice.config
    monkeypatch.setattr(own, "noise_scale", 0.0)
    monkeypatch.setattr(own, "noise_w_scale", 0.0)

    async def go(task, **inputs):
        settings = TurnSettings(max_reply_tokens=30)
        return await events_of(
            real_engine, a_turn(task=TaskRequest(task, **inputs), settings=settings)
        )

    return go


def normal(text):
    return " ".join(re.sub(r"[^a-z ]", " ", text.lower()).split())


def written(events):
    return "".join(event.delta for event in only(events, ReplyText))


def sound_of(events):
    chunks = only(events, SpeechChunk)
    return AudioClip(np.concatenate([chunk.pcm for chunk in chunks]), chunks[0].sample_rate)


async def test_what_is_spoken_is_written_down_and_repeated(ask):
    spoken = sound_of(await ask("tts_sft", text=WORDS))
    clean = await ask("audio_trancribing_sft", variant="clean", clip=spoken)
    assert normal(written(clean)) == normal(WORDS)
    assert not only(clean, SpeechChunk)
    repeated = sound_of(await ask("audio_trancribing_sft", clip=spoken))
    again = await ask("audio_trancribing_sft", variant="clean", clip=repeated)
    assert normal(written(again)) == normal(WORDS)


async def test_captions_change_where_a_sentence_ends(ask):
    events = await ask("tts_sft", text=WORDS)
    first, second = only(events, Captions)[-1].cues
    spoken = sound_of(events)
    rate, cut = spoken.sample_rate, round(first.end_s * spoken.sample_rate)
    assert second.end_s == pytest.approx(spoken.duration_s)
    for sound, words in ((spoken.samples[:cut], first.text), (spoken.samples[cut:], second.text)):
        heard = await ask("audio_trancribing_sft", variant="clean", clip=AudioClip(sound, rate))
        assert normal(written(heard)) == normal(words)


@pytest.mark.parametrize("kind", ["spoken", "speech2text", "text"])
async def test_a_dialogue_goes_on_from_what_was_said(ask, say, kind):
    said = AudioClip(say("What is the largest planet in the solar system?"), 16_000)
    history = (EarlierTurn(clip=said, answer="Jupiter is the largest planet."),)
    question = AudioClip(say("How many moons does it have?"), 16_000)
    asked = {"text": "How many moons does it have?"} if kind == "text" else {"clip": question}
    events = await ask(f"{kind}_dialogue_sft_multiturn", history=history, **asked)
    assert len(written(events)) > 5
    assert bool(only(events, SpeechChunk)) == (kind == "spoken")
    heard = [normal(event.text) for event in only(events, Transcript) if event.final]
    assert heard == ([] if kind == "text" else ["how many moons does it have"])
