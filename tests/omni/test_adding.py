"""A request goes into vLLM-Omni beside the event loop, and whoever stops it waits for nothing.

Without an engine: what is read, and what goes in, is written down.
"""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from importlib.util import find_spec

import pytest

pytestmark = [
    pytest.mark.omni,
    pytest.mark.skipif(find_spec("vllm_omni") is None, reason="vLLM-Omni is not installed"),
]


@pytest.fixture
def engine():
    """Reads a prompt until ``engine.read`` is set; ``engine.log`` tells what happens."""
    from backend.engines.omni.staged import StagedEngine

    class Engine(StagedEngine):
        def __init__(self) -> None:
            self._adding = defaultdict(asyncio.Lock)
            self._dropped = set()
            self.read = threading.Event()
            self.log: list[str] = []

        def add_request(self, *, request_id: str, prompt: dict) -> None:
            self.log.append(f"reads {request_id}")
            self.read.wait(30)
            if prompt.get("bad"):
                raise ValueError("bad")
            self.log.append(f"adds {request_id}")

        def abort(self, request_ids: list[str]) -> None:
            self.log.append(f"aborts {request_ids[0]}")

    return Engine()


async def until(condition) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - threads tell of themselves in a list alone
            await asyncio.sleep(0.01)


def adding(engine, name: str, **prompt: object) -> asyncio.Task[None]:
    return asyncio.create_task(engine.add_request_async(request_id=name, prompt=prompt))


async def test_a_stopped_request_that_is_being_read_ends_at_once_and_is_aborted_when_it_is_in(
    engine,
):
    first = adding(engine, "first")
    await until(lambda: engine.log)
    first.cancel()
    await asyncio.wait({first}, timeout=5)
    assert first.cancelled()
    assert engine.log == ["reads first"]
    engine.read.set()
    await until(lambda: len(engine.log) == 3)
    assert engine.log == ["reads first", "adds first", "aborts first"]
    assert engine._dropped == set()


async def test_the_next_request_of_the_stage_is_read_after_it(engine):
    first, second = adding(engine, "first"), adding(engine, "second")
    other = adding(engine, "other", first_stage=1)
    await until(lambda: len(engine.log) == 2)
    assert engine.log == ["reads first", "reads other"]
    first.cancel()
    await asyncio.sleep(0.05)
    assert len(engine.log) == 2
    engine.read.set()
    await asyncio.gather(second, other)
    assert engine.log.index("adds first") < engine.log.index("reads second")


async def test_a_stopped_request_that_waits_is_never_read(engine):
    first, second = adding(engine, "first"), adding(engine, "second")
    await until(lambda: engine.log)
    second.cancel()
    engine.read.set()
    await first
    await asyncio.wait({second}, timeout=5)
    await adding(engine, "third")
    assert engine.log == ["reads first", "adds first", "reads third", "adds third"]


async def test_a_request_that_cannot_be_read_raises_and_lets_others_in(engine):
    engine.read.set()
    with pytest.raises(ValueError, match="bad"):
        await adding(engine, "first", bad=True)
    await adding(engine, "second")
    assert engine.log[-1] == "adds second"
