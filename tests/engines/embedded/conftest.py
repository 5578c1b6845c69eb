from __future__ import annotations

import pytest
import pytest_asyncio

from backend.engines.embedded.engine import EmbeddedEngine
from backend.settings import Settings
from tests.engines.embedded.doubles import fake_engine


@pytest.fixture
def loaded():
    """A maker of engines with doubles, loaded; all are closed at the end."""

    class Loaded:
        def __init__(self):
            self.engines = []

        async def __call__(self, **stages):
            engine = fake_engine(**stages)
            self.engines.append(engine)
            await engine.load(lambda share, words: None)
            return engine

    return Loaded()


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def real_engine():
    """The engine with the built-in models, loaded once for the whole run."""
    engine = EmbeddedEngine.from_settings(Settings(_env_file=None))
    await engine.load(lambda share, words: None)
    yield engine
    await engine.close()


@pytest.fixture(scope="session")
def say(real_engine):
    """Speech at 16 kHz for words, made by the engine's own voice."""
    import numpy as np
    import soxr

    from backend.engines.embedded.stages import StopSignal

    voice = real_engine._crew.voice

    def speech(text):
        sound = np.concatenate(list(voice.speak(text, 1.0, StopSignal())))
        return soxr.resample(sound, voice.sample_rate, 16_000).astype(np.float32)

    return speech
