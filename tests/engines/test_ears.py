"""Clips are heard by the engine, or by a small recogniser where it hears none."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from backend.contract.engine import EngineState
from backend.contract.errors import EngineFailed
from backend.contract.media import AudioClip
from backend.engines.ears import Ears
from backend.engines.failures import ModelMissing
from backend.runtime.engine_thread import EngineThread
from tests.engines.embedded.doubles import FakeRecognizer
from tests.scripted_engine import ScriptedEngine

CLIP = AudioClip(np.zeros(16_000, np.float32), 16_000)


class CountedRecognizer(FakeRecognizer):
    loads = 0

    def load(self):
        self.loads += 1


class MissingRecognizer(CountedRecognizer):
    def load(self):
        super().load()
        raise ModelMissing("the weights are not installed")


class BrokenRecognizer(CountedRecognizer):
    def load(self):
        super().load()
        raise RuntimeError("there is no model.bin in this folder")


@pytest.fixture
def recognizer():
    return CountedRecognizer(("Small ears", "hear this."))


@pytest.fixture
def engine():
    return ScriptedEngine(words="The engine hears this.")


@pytest.fixture
async def ears(engine, recognizer):
    thread = EngineThread(lambda: engine)
    thread.start()
    while thread.status.state is not EngineState.READY:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    ears = Ears(thread, recognizer)
    yield ears
    ears.close()
    thread.close()


async def test_the_engine_hears_where_it_can_and_no_other_model_is_loaded(ears, recognizer):
    assert await ears.hear(CLIP) == "The engine hears this."
    assert recognizer.loads == 0


async def test_a_small_recogniser_hears_for_an_engine_that_only_speaks(ears, engine, recognizer):
    engine.hears_ahead = False
    assert await ears.hear(CLIP) == await ears.hear(CLIP) == "Small ears hear this."
    assert recognizer.loads == 1


async def test_it_does_not_judge_words_of_a_language_that_it_does_not_know(
    ears, engine, recognizer
):
    engine.hears_ahead = False
    assert await ears.hear(CLIP, "这是中文") is None
    recognizer.languages = ("auto", "en", "zh")
    assert await ears.hear(CLIP, "这是中文") == "Small ears hear this."


async def test_marks_that_are_no_letters_make_no_other_language(ears, engine):
    engine.hears_ahead = False
    assert await ears.hear(CLIP, "It’s “small” – isn’t it?") == "Small ears hear this."


@pytest.mark.parametrize("recognizer", [MissingRecognizer(), BrokenRecognizer()])
async def test_where_it_is_not_installed_nothing_is_heard_and_it_is_looked_for_once(
    ears, engine, recognizer
):
    engine.hears_ahead = False
    assert [await ears.hear(CLIP), await ears.hear(CLIP)] == [None, None]
    assert recognizer.loads == 1


async def test_an_engine_that_is_not_ready_says_so(engine, recognizer):
    engine.load_s = 60
    thread = EngineThread(lambda: engine)
    thread.start()
    with pytest.raises(EngineFailed):
        await Ears(thread, recognizer).hear(CLIP)
    thread.close()


async def test_closing_frees_the_recogniser_that_was_needed(ears, engine, recognizer):
    engine.hears_ahead = False
    await ears.hear(CLIP)
    thread = ears._thread
    ears.close()
    thread._thread.join(5)
    assert recognizer.closed
    assert not thread.alive
