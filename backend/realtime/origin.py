"""Which web pages may open the app's WebSocket: browsers let every page try."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

PORTS = {"http": 80, "https": 443}


def is_own_page(headers: Mapping[str, str]) -> bool:
    """Whether a handshake comes from the app's own page, or from no page at all.

    Browsers always name the page's ``Origin``; other clients name none. The app is known by the
    ``Host`` that was asked for, or by the ``X-Forwarded-Host`` of a proxy: no page can set either.
    A proxy ends TLS and may leave the port out, so neither scheme nor a missing port counts.
    """
    origin = headers.get("origin")
    if origin is None:
        return True
    try:
        page = urlsplit(origin)
        port = page.port or PORTS.get(page.scheme)
    except ValueError:
        return False
    if not page.hostname:  # "null", of a sandboxed frame or a file
        return False
    name = page.netloc.removesuffix(f":{page.port}")
    asked_for = [headers.get("host", ""), *headers.get("x-forwarded-host", "").split(",")]
    return any(host.strip().lower() in {name, f"{name}:{port}"} for host in asked_for)
