"""The rooms import in one direction."""

from __future__ import annotations

import re
from pathlib import Path

from importlinter.cli import lint_imports

ROOT = Path(__file__).parent.parent


def test_imports_point_one_way():
    assert lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True) == 0


def test_every_package_of_the_project_is_a_room_of_the_design():
    packages = {p.parent.relative_to(ROOT).as_posix() for p in ROOT.glob("backend/**/__init__.py")}
    assert packages >= {"backend/contract", "backend/media", "backend/runtime", "backend/realtime"}


def test_requirements_are_pinned():
    for file in ROOT.glob("requirements*.txt"):
        for line in file.read_text().splitlines():
            if line and not line.startswith(("#", "-r", "./plugins/")):
                assert re.match(r"[\w.\[\]-]+==[\w.+]+(\s*;.*)?$", line), f"{file.name}: {line}"
