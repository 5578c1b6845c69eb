"""Reads zips that anybody may have made: no more of one is unpacked than was asked for."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from pathlib import Path

_MAX_DIRECTORY_BYTES = 1_000_000

# The end of a zip without a comment: where the locator of a ZIP64 would stand, the signature of
# the last record, and in it the size of the directory.
_TAIL = struct.Struct("<4s16x4s8xI6x")

# The ways of packing that every program can read; ``zipfile`` may know others, each with errors
# of its own.
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

# All that opening a damaged zip, and reading a file of one, may raise.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    KeyError,
    NotImplementedError,
    OSError,
    RuntimeError,
    UnicodeError,
)


class ZipError(Exception):
    """This is no zip, a file is missing in it, or it is too large."""


def open_zip(path: Path) -> zipfile.ZipFile:
    """The zip, if its directory is small: each file in it costs memory before it is read.

    Raises:
        ZipError: It is not, or is no zip, or one with a comment or of the ZIP64 kind.
    """
    try:
        with path.open("rb") as file:
            file.seek(-_TAIL.size, os.SEEK_END)
            locator, end, directory_bytes = _TAIL.unpack(file.read())
        if end != b"PK\5\6" or locator == b"PK\6\7" or directory_bytes > _MAX_DIRECTORY_BYTES:
            raise ZipError
        return zipfile.ZipFile(path)
    except _BROKEN as error:
        raise ZipError from error


def unpack(archive: zipfile.ZipFile, name: str, most_bytes: int) -> bytes:
    """One file of a zip; no more of it is unpacked than the zip says that there is.

    Raises:
        ZipError: It is missing, damaged, packed in a rare way, or has more than ``most_bytes``.
    """
    try:
        about = archive.getinfo(name)
        size = about.file_size
        if size > most_bytes or about.compress_type not in _PACKED:
            raise ZipError
        with archive.open(name) as member:
            return member.read(size)
    except _BROKEN as error:
        raise ZipError from error
