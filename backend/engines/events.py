"""The events of a turn's work, as the engine protocol wants them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

from backend.contract.events import Event
from backend.engines.ending import stopped

Emit = Callable[[Event], None]


async def events_of(work: Callable[[Emit], Coroutine[Any, Any, None]]) -> AsyncGenerator[Event]:
    """Run ``work`` beside the reader and yield what it emits; raises what it raises.

    Closing the generator stops the work and waits for its end.
    """
    # Without a bound of its own: a reply has at most `max_reply_tokens`, and pausing the stages
    # for a slow reader would make their times and their silence mean nothing.
    events: asyncio.Queue[Event | None] = asyncio.Queue()
    task = asyncio.create_task(work(events.put_nowait))
    task.add_done_callback(lambda _: events.put_nowait(None))
    try:
        while (event := await events.get()) is not None:
            yield event
        await task
    finally:
        await stopped(task)
