"""What is wrong with the options, in one plain line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from pydantic import ValidationError
from pydantic_settings import BaseSettings, CliApp

from backend.contract.errors import TurnRefused

WRONG_OPTIONS = 2
"""Exit code where nothing was begun."""

Options = TypeVar("Options", bound=BaseSettings)


class OptionWrong(Exception):  # noqa: N818 - reads as what it reports
    """An option cannot be used; the message names it."""


def parse(kind: type[Options]) -> Options:
    """The options of the command line; ends the process where they are wrong."""
    try:
        return CliApp.run(kind)
    except ValidationError as error:
        for wrong in error.errors():
            option = "".join(f"--{part}: " for part in wrong["loc"][:1]).replace("_", "-")
            complain(option + wrong["msg"].removeprefix("Value error, "))
        sys.exit(WRONG_OPTIONS)


def complain(text: str) -> int:
    """Say what is wrong; returns the exit code."""
    print(text, file=sys.stderr)
    return WRONG_OPTIONS


@contextmanager
def blaming(option: str) -> Iterator[None]:
    """Tell a refusal as one of this option.

    Raises:
        OptionWrong: Something inside was refused.
    """
    try:
        yield
    except TurnRefused as refusal:
        raise OptionWrong(f"{option}: {refusal.message}") from refusal
