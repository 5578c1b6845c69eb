"""A text or CSV file as rows, each with the line at which it begins."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import cast

from backend.batches.charset import decoded
from backend.batches.refusals import BatchRefused

COLUMNS = ("text", "name", "voice", "speed", "instructions", "language", "seed")
"""Columns of a CSV file that mean something; ``text`` has to be there."""

_DELIMITERS = (",", ";", "\t", "|")
_BREAK = re.compile(r"\r\n|\r|\n")
_TOO_MANY = "\0"  # no column can be called so
_TOO_WIDE = (
    "There are more cells here than columns in the first line. Put a text that holds the separator"
    " in double quotes."
)


@dataclass(frozen=True, slots=True)
class Row:
    """One item as it was written.

    Attributes:
        line: Number of the line in the file at which it begins, from 1.
        cells: What is written, by column; blanks around it are gone.
        problem: Plain words where the row as such is broken, else empty.
    """

    line: int
    cells: dict[str, str]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A file as it was understood.

    Attributes:
        rows: Its items in their order; empty lines are none.
        notes: What the person should know of how it was read.
    """

    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()


def read_sheet(data: bytes, file_name: str) -> Sheet:
    """The rows of a file. In a text file each line is one.

    Raises:
        BatchRefused: ``file_kind``, ``not_text``, ``encoding_unknown``, ``text_column``,
            ``csv_broken``, ``cell_too_long`` or ``batch_empty``.
    """
    suffix = PurePath(file_name).suffix.lower()
    if suffix not in {".txt", ".csv", ".tsv"}:
        raise BatchRefused("file_kind", "Choose a .txt or a .csv file; save a table as CSV first.")
    text, guessed = decoded(data)
    sheet = Sheet(tuple(_lines(text))) if suffix == ".txt" else _table(text)
    if not sheet.rows:
        raise BatchRefused("batch_empty", "There is no text in this file.")
    return Sheet(sheet.rows, tuple(note for note in (guessed, *sheet.notes) if note))


def _lines(text: str) -> Iterator[Row]:
    for number, line in enumerate(_BREAK.split(text), 1):
        if line.strip():
            yield Row(number, {"text": line.strip()})


def _table(text: str) -> Sheet:
    lines = io.StringIO(text, newline="")
    reader = csv.DictReader(lines, restkey=_TOO_MANY, delimiter=_delimiter(text), strict=True)
    try:
        columns = [_key(cell) for cell in reader.fieldnames or ()]
        _check_columns(columns)
        reader.fieldnames = columns
        rows = tuple(_rows(reader))
    except csv.Error as error:
        raise _broken(error, reader.reader.line_num) from error
    return Sheet(rows, _unused(columns))


def _broken(error: csv.Error, line: int) -> BatchRefused:
    if "field limit" in str(error):  # the module has one class for all that goes wrong
        words = (
            f"Line {line}: a cell here has more than {csv.field_size_limit():,} characters. Split"
            " it, or close the double quotes before it."
        )
        return BatchRefused("cell_too_long", words)
    words = (
        f"Line {line}: the double quotes here do not match, or are not closed. Inside a text they"
        " are written twice."
    )
    return BatchRefused("csv_broken", words)


def _delimiter(text: str) -> str:
    """What parts the header so that one of its cells is ``text``.

    ``csv.Sniffer`` looks at the rows, where texts are full of commas and semicolons themselves.
    """
    first = _BREAK.split(text, maxsplit=1)[0]
    for delimiter in _DELIMITERS:
        try:
            cells = next(csv.reader([first], delimiter=delimiter), [])
        except csv.Error as error:
            raise _broken(error, 1) from error
        if "text" in map(_key, cells):
            return delimiter
    found = first.strip()[:120] or "nothing"
    words = "The first line of a CSV file names its columns, and one has to be called text."
    raise BatchRefused("text_column", f"{words} It says: {found}")


def _check_columns(columns: list[str]) -> None:
    twice = [column for column in COLUMNS if columns.count(column) > 1]
    if twice:
        raise BatchRefused("text_column", f"The column {twice[0]} is there twice.")


def _unused(columns: list[str]) -> tuple[str, ...]:
    others = [column for column in columns if column and column not in COLUMNS]
    return (f"Columns that are not used: {', '.join(others)[:200]}.",) if others else ()


def _rows(reader: csv.DictReader[str]) -> Iterator[Row]:
    for written in reader:
        beyond = cast("list[str]", written.pop(_TOO_MANY, []))
        cells = {column: cell or "" for column, cell in written.items()}
        if any(map(str.strip, (*cells.values(), *beyond))):
            began = reader.line_num - sum(len(_BREAK.findall(cell)) for cell in cells.values())
            named = {column: cells[column].strip() for column in COLUMNS if column in cells}
            yield Row(began, named, _TOO_WIDE if any(map(str.strip, beyond)) else "")


def _key(cell: str) -> str:
    return cell.strip().lower()
