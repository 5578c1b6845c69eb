"""Bodies in JSON, with what is wrong in them as OpenAI's API says it."""

from __future__ import annotations

from typing import TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError

from backend.speech_api.errors import of_fields

Body = TypeVar("Body", bound=BaseModel)


async def read_body(request: Request, kind: type[Body]) -> Body:
    """The body of a request. Halves of characters are refused, which no answer could quote.

    Raises:
        ApiError: It is no JSON, or does not fit.
    """
    try:
        return kind.model_validate_json(await request.body())
    except ValidationError as error:
        raise of_fields(error) from error
