"""What cannot be done, in the form in which OpenAI's API says it."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import ValidationError

from backend.batches.refusals import BatchRefused
from backend.contract.errors import Field, TurnRefused
from backend.voices.refusals import Part, VoiceRefused

_BUSY = {
    "busy": 429,
    "engine_down": 503,
    "library_full": 429,
    "batches_full": 429,
    "shelf_full": 429,
}
_MISSING = {"voice_unknown": 404, "clip_lost": 410, "batch_unknown": 404, "clip_unknown": 404}

# The parameter that a part of a voice, or of a turn, comes in.
_PARAMS: dict[str, str] = {
    Part.NAME: "name",
    Part.CLIP: "audio_sample",
    Part.WORDS: "ref_text",
    Part.CONSENT: "consent",
    Part.FILE: "archive",
    Field.AUDIO: "audio_sample",
    Field.TEXT: "input",
    Field.VOICE: "voice",
}

_REFUSALS = (TurnRefused, VoiceRefused, BatchRefused)


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


def answer_errors(app: FastAPI) -> None:
    """Have the app answer what a route raises, and requests that do not fit one, in that form."""
    for kind in (ApiError, *_REFUSALS, RequestValidationError):
        app.add_exception_handler(kind, _answer)


def of_refusal(
    refusal: TurnRefused | VoiceRefused | BatchRefused, param: str | None = None
) -> ApiError:
    """The error for something that a person is told in the page as a refusal.

    Args:
        refusal: The refusal.
        param: The parameter that has to change, where the refusal cannot tell.
    """
    status = (_BUSY | _MISSING).get(refusal.code, 400)
    if param:
        return ApiError(status, refusal.message, refusal.code, param)
    if isinstance(refusal, BatchRefused):
        param = None if refusal.code in _BUSY | _MISSING else "file"
    else:
        part = refusal.part if isinstance(refusal, VoiceRefused) else refusal.field
        param = _PARAMS.get(part)
    return ApiError(status, refusal.message, refusal.code, param)


def of_fields(error: ValidationError | RequestValidationError) -> ApiError:
    """The error for the first field that is missing or out of bounds."""
    first = error.errors()[0]
    place = [str(part) for part in first["loc"] if part not in ("body", "query")]
    param = ".".join(place) or None
    message = f"{param}: {first['msg']}" if param else first["msg"]
    return ApiError(400, message, "bad_request", param)


def _answer(_: Request, error: Exception) -> JSONResponse:
    if isinstance(error, RequestValidationError):
        error = of_fields(error)
    if isinstance(error, _REFUSALS):
        error = of_refusal(error)
    assert isinstance(error, ApiError)  # noqa: S101 - FastAPI's type says no more
    kinds = {429: "rate_limit_error", 503: "server_error", 500: "server_error"}
    told = {
        "message": error.message,
        "type": kinds.get(error.status, "invalid_request_error"),
        "param": error.param,
        "code": error.code,
    }
    return JSONResponse({"error": told}, error.status)
