"""What every route asks before it does anything."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import Request

from backend.contract.engine import Capabilities
from backend.realtime.origin import is_own_page
from backend.runtime.engine_thread import EngineThread
from backend.speech_api.errors import ApiError


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


def refuse_larger(max_bytes: int) -> Callable[[Request], None]:
    """A guard against bodies of more than ``max_bytes``, before anything of them is read.

    It raises an ``ApiError`` also where a client does not say how much it sends.
    """

    def guard(request: Request) -> None:
        if request.method not in {"POST", "PUT"}:
            return
        length = request.headers.get("content-length", "")
        if not length.isdecimal():
            raise ApiError(411, "Say how long the body is, in Content-Length.", "length_unknown")
        if int(length) > max_bytes:
            text = f"The body has {int(length):,} bytes; the limit is {max_bytes:,}."
            raise ApiError(413, text, "too_large")

    return guard
