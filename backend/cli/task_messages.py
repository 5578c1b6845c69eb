"""A dialogue so far, from a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from backend.cli.complaints import OptionWrong
from backend.contract.media import AudioClip
from backend.contract.tasks import EarlierTurn

ReadClip = Callable[[Path], AudioClip]
"""Decodes a file; raises ``TurnRefused``."""


class Message(BaseModel):
    """One message; ``audio`` is a path from the folder of the file that names it."""

    model_config = ConfigDict(extra="forbid")

    role: Literal["user", "assistant"]
    text: str = ""
    audio: Path | None = None


def read_messages(path: Path) -> list[Message]:
    """The messages of a file, by turns from the user and the assistant; audio paths made whole.

    Raises:
        OptionWrong: They are not such messages.
    """
    try:
        messages = TypeAdapter(list[Message]).validate_json(path.read_bytes())
    except OSError as error:
        raise OptionWrong(f"--messages: {path} cannot be read.") from error
    except ValidationError as error:
        wrong = error.errors()[0]
        raise OptionWrong(f"--messages: {_place(wrong['loc'])}{wrong['msg']}.") from error
    if not messages:
        raise OptionWrong("--messages: there are none in this file.")
    for number, message in enumerate(messages, start=1):
        if message.role != ("user" if number % 2 else "assistant"):
            raise OptionWrong(
                f"--messages: message {number} is of the {message.role}, but user and assistant"
                " take turns, the user first."
            )
        if message.audio is not None:
            message.audio = path.parent / message.audio
    return messages


def rounds_of(messages: list[Message], read_clip: ReadClip) -> tuple[EarlierTurn, ...]:
    """The rounds that have an answer.

    Raises:
        TurnRefused: A recording cannot be used.
    """

    def clip(message: Message) -> AudioClip | None:
        return None if message.audio is None else read_clip(message.audio)

    return tuple(
        EarlierTurn(said.text, clip(said), answer.text, clip(answer))
        for said, answer in zip(messages[::2], messages[1::2], strict=False)
    )


def _place(location: tuple[int | str, ...]) -> str:
    if not location:
        return ""
    number, *field = location
    where = f"message {int(number) + 1}: "
    return where + "".join(f"{part}: " for part in field)
