"""The machine as the doctor sees it; tests hand in another one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path


class CommandFailed(Exception):  # noqa: N818 - reads as what happened
    """A program is not there, or did not do its work; the message says which."""


@dataclass(frozen=True, slots=True)
class Machine:
    """All that the doctor asks of the world.

    Attributes:
        run: Runs a program and returns what it printed; raises ``CommandFailed``.
        version_of: Version of an installed package, or none.
        free_bytes: Free disk space where a path lies or would lie.
        environ: Environment variables.
        home: The user's home.
        python: The interpreter that would run the engine.
    """

    run: Callable[[Sequence[str]], str]
    version_of: Callable[[str], str | None]
    free_bytes: Callable[[Path], int]
    environ: Mapping[str, str]
    home: Path
    python: str


def this_machine() -> Machine:
    """The real one."""
    return Machine(
        run=_run,
        version_of=_version_of,
        free_bytes=_free_bytes,
        environ=os.environ,
        home=Path.home(),
        python=sys.executable,
    )


def _run(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - the doctor's own fixed commands
            command, capture_output=True, text=True, timeout=10, check=False
        )
    except FileNotFoundError:
        raise CommandFailed(f"{command[0]} is not installed") from None
    except (OSError, subprocess.TimeoutExpired):
        raise CommandFailed(f"{command[0]} does not answer") from None
    if done.returncode:
        said = (done.stdout + done.stderr).strip().splitlines() or ["it failed without a word"]
        raise CommandFailed(f"{command[0]}: {said[0]}")
    return done.stdout


def _version_of(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _free_bytes(path: Path) -> int:
    there = next(parent for parent in (path, *path.absolute().parents) if parent.exists())
    return shutil.disk_usage(there).free
