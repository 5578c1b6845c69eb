"""Fixtures that every room's tests share."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Callable

import pytest
from hypothesis import settings

from backend.contract.engine import Engine
from backend.runtime.engine_thread import EngineThread

# How long a machine takes is no property of the code; times are measured in bench/.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# No test reads or writes the voices that the person at this machine keeps.
os.environ["OMNI_LIVE_DATA_DIR"] = tempfile.mkdtemp(prefix="omni-live-tests-")


@pytest.fixture
def start():
    """Start an engine thread on the given engines, one after the other; closed after the test."""
    threads = []

    def begin(*engines: Engine, **options) -> EngineThread:
        supply = iter(engines)
        thread = EngineThread(lambda: next(supply), **options)
        threads.append(thread)
        thread.start()
        return thread

    yield begin
    for thread in threads:
        thread.close()


@pytest.fixture
def until():
    """Wait until a condition holds, in a coroutine; fails after ten seconds."""

    async def wait(condition: Callable[[], bool], seconds: float = 10.0) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "the condition was not reached in time"
            await asyncio.sleep(0.01)

    return wait
