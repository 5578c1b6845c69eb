"""The text of a file whose encoding nobody names."""

from __future__ import annotations

import codecs

from backend.batches.refusals import BatchRefused

GUESSED = (
    "The file is not in UTF-8; it was read as Windows Western (cp1252). Where letters look wrong"
    " below, save it as UTF-8 and choose it again."
)

_FOREIGN_SHARE = 0.3  # of all letters; Western European texts keep below 0.15
_FEW_LETTERS = 6  # are no ground to refuse a file


def decoded(data: bytes) -> tuple[str, str]:
    """The text of a file, and a note for the person where its encoding was guessed.

    UTF-8 and UTF-16 show by themselves. What is neither is taken for Windows Western where it
    reads like it: detectors take short texts in it for anything else.

    Raises:
        BatchRefused: ``not_text`` or ``encoding_unknown``.
    """
    try:
        text, note = _told(data), ""
    except UnicodeDecodeError:
        text, note = _guessed(data), GUESSED
    if any(character < " " and character not in "\t\n\v\f\r\x1a" for character in text):
        raise BatchRefused("not_text", "This is not a text file. Save it as .txt or .csv first.")
    return text.removesuffix("\x1a"), note


def _told(data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16")
    return data.decode("utf-8-sig")


def _guessed(data: bytes) -> str:
    unknown = BatchRefused(
        "encoding_unknown", "The letters of this file cannot be told. Save it as UTF-8 first."
    )
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError as error:
        raise unknown from error
    letters = [character for character in text if character.isalpha()]
    foreign = sum(not character.isascii() for character in letters)
    if foreign > max(_FEW_LETTERS, _FOREIGN_SHARE * len(letters)):
        raise unknown
    return text
