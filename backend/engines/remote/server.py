"""Where the server is, what it lets in, and whether it is well."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import httpx

from backend.contract.errors import EngineFailed

HEALTH_TIMEOUT_S = 4.0
"""Seconds that the server has to answer; the runtime waits for five."""

_SECURE = {"http": False, "ws": False, "https": True, "wss": True}


class ServerRefused(Exception):  # noqa: N818 - reads as the event that it reports
    """What is at the address is no server that this engine could use, in plain words."""


class NoHealthRoute(ServerRefused):
    """What is at the address does not tell whether it is well: vLLM-Omni's servers do."""


@dataclass(frozen=True, slots=True)
class Server:
    """One vLLM-Omni server.

    Attributes:
        url: Its address as it was given: ``http``, ``https``, ``ws`` or ``wss``, a host, and
            where needed a port and the path of a proxy.
        key: What ``--api-key`` of ``vllm serve`` asks for, or empty.
        sessions: Sessions that it lets run at a time, ``max_sessions`` of its deploy file.
        speakers: Names of its voices to choose from; the first is the default. None leave the
            choice to the server, or to what it says of its voices.
    """

    url: str
    key: str = ""
    sessions: int = 1
    speakers: tuple[str, ...] = ()

    @property
    def web(self) -> str:
        """Address of its HTTP routes, without a slash at the end.

        Raises:
            ServerRefused: ``url`` is not the address of a server.
        """
        return self._address("https", "http")

    @property
    def socket(self) -> str:
        """Address of its duplex WebSocket.

        Raises:
            ServerRefused: ``url`` is not the address of a server.
        """
        return f"{self._address('wss', 'ws')}/v1/realtime?duplex=1"

    @property
    def headers(self) -> dict[str, str]:
        """What every request carries."""
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    async def check_health(self) -> None:
        """Return when the server says that all of its stages are alive.

        Raises:
            EngineFailed: It does not answer, or not well.
            NoHealthRoute: It has no such route.
            ServerRefused: What answers is no vLLM-Omni server.
        """
        try:
            answer = await self._get("/health")
        except httpx.HTTPError as error:
            raise EngineFailed(f"The server at {self.web} does not answer.") from error
        if answer.status_code >= 500:
            raise EngineFailed(f"The server at {self.web} is up, but its model is not running.")
        if answer.status_code != 200:
            told = f"it answers /health with HTTP {answer.status_code}"
            refused = NoHealthRoute if answer.status_code in {404, 405} else ServerRefused
            raise refused(f"There is no vLLM-Omni server at {self.web}: {told}.")

    async def model_name(self) -> str:
        """Name of the model that it serves, or empty when it does not tell."""
        try:
            answer = await self._get("/v1/models")
            served: dict[str, Any] = answer.json()
            return str(served["data"][0]["id"])
        except (httpx.HTTPError, ValueError, LookupError, TypeError):
            return ""

    def client(self, timeout: httpx.Timeout | float) -> httpx.AsyncClient:
        """Connections to its HTTP routes, whose paths stand behind its own; the caller closes it.

        Args:
            timeout: Seconds that it may take for each step of a request.
        """
        return httpx.AsyncClient(
            base_url=self.web, headers=self.headers, timeout=timeout, verify=_trusted()
        )

    async def _get(self, path: str) -> httpx.Response:
        async with self.client(HEALTH_TIMEOUT_S) as client:
            return await client.get(path)

    def _address(self, secure: str, plain: str) -> str:
        parts = urlsplit(self.url)
        if parts.scheme not in _SECURE or not parts.hostname:
            text = "is not the address of a server. It looks like http://host:8091."
            raise ServerRefused(f"{self.url!r} {text}")
        path = parts.path.rstrip("/").removesuffix("/v1/realtime").removesuffix("/v1")
        return f"{secure if _SECURE[parts.scheme] else plain}://{parts.netloc}{path}"


@cache
def _trusted() -> ssl.SSLContext:
    """Whose certificates are believed. Read once: it takes longer than a request."""
    return httpx.create_ssl_context()
