"""What a person is told when a batch cannot be made or found."""

from __future__ import annotations


class BatchRefused(Exception):  # noqa: N818 - a refusal is an answer, not a fault
    """Something cannot be done with a batch, with the reason in plain words.

    Attributes:
        code: Stable machine name, such as ``text_missing``.
        message: One or two sentences for the person.
    """

    def __init__(self, code: str, message: str) -> None:
        """Store the two values; ``str(refusal)`` is the message."""
        super().__init__(message)
        self.code = code
        self.message = message


def no_such_batch() -> BatchRefused:
    """There is none with this id, or it is another person's."""
    return BatchRefused("batch_unknown", "This batch does not exist any more.")
