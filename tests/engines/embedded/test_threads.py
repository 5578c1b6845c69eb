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


async def test_a_stream_that_waits_while_the_thread_closes_fails_instead_of_hanging(thread):
    release = threading.Event()
    blocked = asyncio.create_task(thread.call(lambda: release.wait(5)))

    async def read():
        return [item async for item in thread.stream(lambda stop: iter([1]))]

    waiting = asyncio.create_task(read())
    await asyncio.sleep(0.05)
    thread.close()
    with pytest.raises(EngineFailed):
        await asyncio.wait_for(waiting, 5)
    release.set()
    assert await blocked
    with pytest.raises(EngineFailed):
        await thread.call(lambda: None)


async def test_a_stream_that_closing_cuts_short_fails_instead_of_ending(thread):
    def produce(stop):
        yield 1
        stop.wait(5)
        yield 2

    stream = thread.stream(produce)
    assert await anext(stream) == 1
    thread.close()
    with pytest.raises(EngineFailed):
        await anext(stream)


@pytest.mark.parametrize("kind", ["stream", "call"])
async def test_a_cancelled_reader_waits_until_the_thread_lets_go(thread, kind):
    inside, release = threading.Event(), threading.Event()

    def stuck(stop=None):
        inside.set()
        release.wait(10)
        return iter([1])

    async def read():
        if kind == "call":
            return await thread.call(stuck)
        return [item async for item in thread.stream(stuck)]

    reading = asyncio.create_task(read())
    assert await asyncio.to_thread(inside.wait, 5)
    for _ in range(2):
        reading.cancel()
        await asyncio.sleep(0.05)
        assert not reading.done()
    release.set()
    await asyncio.wait({reading}, timeout=5)
    assert reading.cancelled()


async def test_whoever_waits_for_an_abandoned_thread_is_let_go(thread):
    inside, release = threading.Event(), threading.Event()

    def stuck():
        inside.set()
        release.wait(10)

    calling = asyncio.create_task(thread.call(stuck))
    assert await asyncio.to_thread(inside.wait, 5)
    thread.close()
    thread.abandon()
    with pytest.raises(EngineFailed):
        await asyncio.wait_for(calling, 5)
    release.set()


async def test_a_call_may_have_no_result(thread):
    assert await thread.call(lambda: None) is None


async def test_a_thread_answers_when_it_is_free_and_not_while_it_is_stuck(thread):
    assert await thread.answers(1.0)
    release = threading.Event()
    stuck = asyncio.create_task(thread.call(lambda: release.wait(5)))
    await asyncio.sleep(0.05)
    assert thread.busy
    assert not await thread.answers(0.1)
    release.set()
    await stuck
    assert await thread.answers(1.0)
