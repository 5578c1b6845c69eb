"""What cannot be done, in the form in which OpenAI's API says it."""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import JSONResponse

from backend.contract.errors import TurnRefused
from backend.voices.refusals import VoiceRefused

_BUSY = {"busy": 429, "engine_down": 503, "library_full": 429}
_MISSING = {"voice_unknown": 404}


class ApiError(Exception):
    """An answer other than the one asked for.

    Attributes:
        status: The HTTP status.
        message: Plain words for the developer.
        code: Stable machine name.
        param: The parameter that has to change, or none.
    """

    def __init__(self, status: int, message: str, code: str, param: str | None = None) -> None:
        """Store the four values; ``str(error)`` is the message."""
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.param = param


def of_refusal(refusal: TurnRefused | VoiceRefused, param: str | None = None) -> ApiError:
    """The error for something that a person is told in the page as a refusal."""
    status = (_BUSY | _MISSING).get(refusal.code, 400)
    return ApiError(status, refusal.message, refusal.code, param)


def answer(_: Request, error: Exception) -> JSONResponse:
    """The response for an ``ApiError``."""
    assert isinstance(error, ApiError)  # noqa: S101 - FastAPI's type says no more
    kinds = {429: "rate_limit_error", 503: "server_error", 500: "server_error"}
    told = {
        "message": error.message,
        "type": kinds.get(error.status, "invalid_request_error"),
        "param": error.param,
        "code": error.code,
    }
    return JSONResponse({"error": told}, error.status)
