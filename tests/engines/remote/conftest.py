"""The remote engine in front of a scripted server."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from backend.contract.media import AudioClip, VideoFrames
from backend.contract.turn import Turn
from backend.engines.remote.engine import RemoteEngine
from backend.engines.remote.server import Server
from tests.engines.remote.duplex_server import DuplexServer


@pytest.fixture
async def server():
    async with DuplexServer().running() as running:
        yield running


@pytest.fixture
def engine(server) -> RemoteEngine:
    return RemoteEngine(Server(server.url))


@pytest.fixture
def ask(engine):
    """Ask one turn and give all of its events."""

    async def told(**turn: Any) -> list[Any]:
        return [event async for event in engine.run(Turn("session", 0, **turn))]

    return told


@pytest.fixture
def clip() -> AudioClip:
    """A second of noise at 48 kHz."""
    noise = np.random.default_rng(1).normal(0, 0.1, 48_000)
    return AudioClip(noise.astype(np.float32), 48_000)


@pytest.fixture
def frames() -> VideoFrames:
    """Four pictures: black, dark, light, white."""
    images = np.zeros((4, 48, 64, 3), np.uint8) + np.array([0, 80, 160, 255], np.uint8).reshape(
        4, 1, 1, 1
    )
    return VideoFrames(images, np.arange(4.0), 4.0)
