"""What every route asks before it does anything."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

from fastapi import Request

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
