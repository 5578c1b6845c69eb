"""Waiting for the end of work that has been told to stop."""

from __future__ import annotations

import asyncio
from typing import Any


async def until_done(future: asyncio.Future[Any]) -> None:
    """Wait until a future or task is done, without raising what it raises.

    When cancelled, waits on and passes the cancellation on afterwards.
    """
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait({future})
        except asyncio.CancelledError as error:
            cancelled = error
    if not future.cancelled():
        future.exception()  # asked for, so that asyncio does not log that nobody did
    if cancelled is not None:
        raise cancelled


async def stopped(task: asyncio.Task[Any]) -> None:
    """Cancel a task and wait until it has ended."""
    task.cancel()
    await until_done(task)
