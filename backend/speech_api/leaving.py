"""Work that is for one client alone, and ends when that client leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import Request

from backend.speech_api.errors import ApiError

T = TypeVar("T")


async def while_listening(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Do the work unless the client leaves first, which nobody else notices before an answer.

    Args:
        request: The client's, whose body has been read.
        work: What is to be done; cancelled when the client leaves.

    Raises:
        ApiError: The client has left.
        Exception: Whatever ``work`` raises.
    """
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_left(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ApiError(499, "The client has left.", "client_left")
        return await working
    finally:
        working.cancel()
        leaving.cancel()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
