"""The bridge from blocking stages to the event loop."""

from __future__ import annotations

import asyncio
import threading
from contextlib import aclosing

import pytest

from backend.contract.errors import EngineFailed
from backend.engines.embedded.threads import StageThread


@pytest.fixture
def thread():
    stage = StageThread("test")
    yield stage
    stage.close()


async def test_items_arrive_in_order_and_the_end_is_told(thread):
    assert [item async for item in thread.stream(lambda stop: iter(range(100)))] == [*range(100)]


async def test_an_error_in_the_thread_is_raised_after_the_items(thread):
    def produce(stop):
        yield 1
        raise ValueError("broken")

    stream = thread.stream(produce)
    assert await anext(stream) == 1
    with pytest.raises(ValueError, match="broken"):
        await anext(stream)


async def test_leaving_the_stream_stops_the_thread(thread):
    stopped = threading.Event()

    def produce(stop):
        while not stop.wait(0.005):
            yield 1
        stopped.set()

    async with aclosing(thread.stream(produce)) as stream:
        async for _ in stream:
            break
    assert await asyncio.to_thread(stopped.wait, 2)


async def test_work_that_was_left_before_it_began_never_begins(thread):
    release = threading.Event()
    blocked = asyncio.create_task(thread.call(lambda: release.wait(5)))
    begun = []

    def produce(stop):
        begun.append(True)
        yield 1

    async def read():
        return [item async for item in thread.stream(produce)]

    waiting = asyncio.create_task(read())
    await asyncio.sleep(0.05)
    waiting.cancel()
    await asyncio.wait({waiting})
    release.set()
    await blocked
    assert await thread.call(lambda: list(begun)) == []


async def test_a_stream_that_waits_while_the_thread_closes_fails_instead_of_hanging():
    thread = StageThread("test")
    release = threading.Event()
    blocked = asyncio.create_task(thread.call(lambda: release.wait(5)))

    async def read():
        return [item async for item in thread.stream(lambda stop: iter([1]))]

    waiting = asyncio.create_task(read())
    await asyncio.sleep(0.05)
    closing = asyncio.create_task(asyncio.to_thread(thread.close))
    await asyncio.sleep(0.05)
    release.set()
    await asyncio.gather(blocked, closing)
    with pytest.raises(EngineFailed):
        await asyncio.wait_for(waiting, 5)
