"""What can go wrong with a server, in words for the person."""

from __future__ import annotations

import logging

from websockets.exceptions import InvalidStatus

from backend.engines.failures import StageFailed
from backend.engines.remote.server import ServerRefused
from backend.engines.remote.wire import Message

_log = logging.getLogger(__name__)

LOST = "The connection to the server was lost."
ENDED = "The server ended the session before the reply was complete."
STOPPED = "The server stopped before the reply was complete."
MODEL_FAILED = "The model on the server failed while it worked on this. Try again."

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
    if status in {401, 403}:
        return ServerRefused("The server asks for a key, or for another one: see --api-key.")
    if status >= 500:
        return StageFailed(f"The server cannot take this just now (HTTP {status}).")
    return ServerRefused(f"There is no vLLM-Omni server at this address (HTTP {status}).")
