"""Failures in words for the person; what the libraries said is chained to them for the log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from backend.contract.errors import EngineFailed, TurnRefused


class StageFailed(Exception):  # noqa: N818 - reads as the event that it reports
    """A stage could not do its work, as one plain sentence or two."""


class ModelMissing(StageFailed):
    """A model that was asked for is not here, with one line on how to get it."""


class ChatFailed(StageFailed):
    """The chat model could not answer."""


@contextmanager
def plainly(sentence: str) -> Iterator[None]:
    """Turn every error that is not in plain words yet into a ``StageFailed`` of ``sentence``."""
    try:
        yield
    except (EngineFailed, TurnRefused, StageFailed):
        raise
    except Exception as error:
        raise StageFailed(sentence) from error
