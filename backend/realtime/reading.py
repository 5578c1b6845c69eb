"""Reads what a client says, or says what is wrong with it."""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from backend.realtime import incoming

_adapter: TypeAdapter[incoming.ClientMessage] = TypeAdapter(
    Annotated[incoming.ClientMessage, Field(discriminator="type")]
)


class BadMessage(ValueError):  # noqa: N818 - it names what came in
    """A message that cannot be taken, in plain words, with its ``event_id`` where it has one."""

    def __init__(self, words: str, event_id: str | None = None) -> None:
        super().__init__(words)
        self.event_id = event_id


def read_message(text: str) -> incoming.ClientMessage:
    """The message in this JSON.

    Raises:
        BadMessage: it is none that a client may say.
    """
    try:
        return _adapter.validate_json(text)
    except ValidationError as error:
        words = error.errors(include_input=False, include_url=False)[0]["msg"]
        raise BadMessage(words, _event_id(text)) from error


def _event_id(text: str) -> str | None:
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return None
    event_id = message.get("event_id") if isinstance(message, dict) else None
    return event_id[: incoming.MAX_ID_CHARS] if isinstance(event_id, str) else None
