"""What every route asks before it does anything."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from backend.contract.engine import Capabilities
from backend.realtime.origin import is_own_page
from backend.runtime.engine_thread import EngineThread
from backend.speech_api.errors import ApiError

EVERYBODY = "api"
"""Who owns the voices of clients that do not say who they are."""

OWNER_HEADER = "x-omni-owner"
"""Header in which the page says whose browser it is: 128 random bits, in hexadecimal digits."""


def owner_of(request: Request) -> str:
    """Who owns the voices that a request is about; the library never holds the secret itself."""
    secret = request.headers.get(OWNER_HEADER, "")
    if not re.fullmatch(r"[0-9a-f]{32}", secret):
        return EVERYBODY
    return f"page-{hashlib.sha256(secret.encode()).hexdigest()[:32]}"


def known_capabilities(engine: EngineThread) -> Capabilities:
    """What the engine can do.

    Raises:
        ApiError: It is still being loaded.
    """
    known = engine.status.capabilities
    if known is None:
        raise ApiError(503, "The engine is still loading. Try again soon.", "engine_loading")
    return known


def refuse_other_pages(request: Request) -> None:
    """Any web page can make a browser send a form to any server; only our own may.

    Raises:
        ApiError: The request comes from another page.
    """
    if not is_own_page(request.headers):
        raise ApiError(403, "This page may not use the app.", "foreign_page")


def guarded(max_bytes: int) -> type[APIRoute]:
    """Routes that refuse other pages, and larger bodies before anything of them is read.

    What is a dependency of a route comes too late for that: FastAPI reads the body first. They
    raise an ``ApiError``, also where a client does not say how much it sends.

    Args:
        max_bytes: Largest body.
    """

    class GuardedRoute(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def guard(request: Request) -> Response:
                refuse_other_pages(request)
                _refuse_larger(request, max_bytes)
                return await handle(request)

            return guard

    return GuardedRoute


def _refuse_larger(request: Request, max_bytes: int) -> None:
    headers = request.headers
    length = headers.get("content-length", "0" if "transfer-encoding" not in headers else "")
    if not length.isdecimal():
        raise ApiError(411, "Say how long the body is, in Content-Length.", "length_unknown")
    if int(length) > max_bytes:
        text = f"The body has {int(length):,} bytes; the limit is {max_bytes:,}."
        raise ApiError(413, text, "too_large")
