"""``python -m backend.cli`` asks, ``… task`` works on a task, ``… doctor`` examines the machine."""

from __future__ import annotations

import sys

from backend.cli.asking import ask_by_files
from backend.cli.examining import examine_machine
from backend.cli.tasking import work_on_task

_COMMANDS = {"doctor": examine_machine, "task": work_on_task}


def main() -> int:
    """Run the command that was named; returns the exit code."""
    # The doctor's options are those of asking, so that both can be called with the same line.
    if command := _COMMANDS.get(sys.argv[1] if len(sys.argv) > 1 else ""):
        del sys.argv[1]
        return command()
    return ask_by_files()


if __name__ == "__main__":
    sys.exit(main())
