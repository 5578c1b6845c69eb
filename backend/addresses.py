"""Addresses that people write into settings."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit


def is_server(url: str) -> bool:
    """Whether it is the address of a server, as far as can be seen from it."""
    parts = urlsplit(url)
    try:
        usable = parts.scheme in {"http", "https", "ws", "wss"} and bool(parts.hostname)
        return usable and parts.port != 0
    except ValueError:  # the port is no number
        return False


def is_this_machine(host: str) -> bool:
    """Whether only programs of this machine reach what listens there."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
