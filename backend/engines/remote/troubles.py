"""What can go wrong with a server, in words for the person."""

from __future__ import annotations

import logging

import httpx
from websockets.exceptions import InvalidStatus

from backend.contract.errors import TurnRefused
from backend.engines.failures import StageFailed
from backend.engines.remote.server import Server, ServerRefused
from backend.engines.remote.wire import Message

_log = logging.getLogger(__name__)

LOST = "The connection to the server was lost."
ENDED = "The server ended the session before the reply was complete."
STOPPED = "The server stopped before the reply was complete."
MODEL_FAILED = "The model on the server failed while it worked on this. Try again."

_KEY = "The server asks for a key, or for another one: see --api-key."
_LONGEST_WORDS = 300

_NO_DUPLEX = frozenset({"unsupported", "multi_api_duplex_unsupported"})
_MODEL = ("runtime_", "internal_error", "engine_error", "commit_aborted")


class ServerBusy(StageFailed):
    """All sessions of the server are taken."""

    def __init__(self) -> None:
        """The words are always the same."""
        super().__init__("The server is busy with other conversations. Try again in a moment.")


def trouble_in(message: Message) -> Exception:
    """What an ``error`` message of the server means.

    Returns:
        ``ServerBusy``, ``ServerRefused`` for a server that holds no duplex sessions at all, or
        another ``StageFailed``.
    """
    error = message.get("error")
    # Outside a session it comes flat: {"type": "error", "code": …, "error": "words"}.
    about = error if isinstance(error, dict) else message
    code = str(about.get("code", ""))
    _log.warning("the server says %s: %s", code, about.get("message", error))
    if code == "resource_exhausted":
        return ServerBusy()
    if code in _NO_DUPLEX:
        text = "This server holds no live sessions. Start it with one API server and a deploy file"
        return ServerRefused(f"{text} that says `session_mode: duplex`.")
    if code.startswith(_MODEL):
        return StageFailed(MODEL_FAILED)
    return StageFailed(f"The server refused this ({code or 'it does not say why'}).")


def trouble_at_the_door(error: InvalidStatus) -> Exception:
    """What it means that the server did not let a WebSocket in."""
    status = error.response.status_code
    if status not in {401, 403} and status < 500:
        return ServerRefused(f"There is no vLLM-Omni server at this address (HTTP {status}).")
    return _trouble_of_any(status)


def trouble_with(response: httpx.Response) -> Exception:
    """What it means that the server did not speak a text; ``response`` has been read.

    Returns:
        ``TurnRefused`` with the server's own words, where the request was at fault; else as
        ``trouble_in`` does.
    """
    status, words = response.status_code, words_in(response)
    _log.warning("the server answers with HTTP %d: %s", status, words)
    if status == 429:
        return ServerBusy()
    if status in {401, 403} or status > 500:
        return _trouble_of_any(status)
    if status == 500:
        return StageFailed(MODEL_FAILED)
    return TurnRefused("server_refused", f"The server refused this: {words or f'HTTP {status}'}")


def words_in(response: httpx.Response) -> str:
    """What an answer that is none says for itself, as OpenAI's API and FastAPI write it."""
    try:
        told = response.json()
    except ValueError:
        return ""
    for name in ("error", "detail", "message", "msg"):
        told = told[0] if isinstance(told, list) and told else told
        told = told.get(name, told) if isinstance(told, dict) else told
    return " ".join(told.split())[:_LONGEST_WORDS] if isinstance(told, str) else ""


def lost_on_the_way(error: httpx.HTTPError, server: Server) -> StageFailed:
    """What it means that a request had no answer, or only the beginning of one."""
    if isinstance(error, httpx.ConnectError | httpx.TimeoutException):
        return StageFailed(f"The server at {server.web} does not answer.")
    return StageFailed(LOST)


def _trouble_of_any(status: int) -> Exception:
    if status in {401, 403}:
        return ServerRefused(_KEY)
    return StageFailed(f"The server cannot take this just now (HTTP {status}).")
