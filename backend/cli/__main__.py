"""``python -m backend.cli`` asks; ``python -m backend.cli doctor`` examines the machine."""

from __future__ import annotations

import sys

from backend.cli.asking import ask_by_files
from backend.cli.examining import examine_machine


def main() -> int:
    """Run the command that was named; returns the exit code."""
    # The doctor's options are those of asking, so that both can be called with the same line.
    if sys.argv[1:2] == ["doctor"]:
        del sys.argv[1]
        return examine_machine()
    return ask_by_files()


if __name__ == "__main__":
    sys.exit(main())
