"""What came of a question, printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from backend.contract.events import Outcome, StageTiming


def print_outcome(name: str, outcome: Outcome, message: str) -> None:
    """The line that says how it ended."""
    print(f"{name}: {outcome}{f' ({message})' if message else ''}")


def print_words(lines: Iterable[tuple[str, str]]) -> None:
    """Labels of at most nine letters with their words, where there are any."""
    for label, words in lines:
        if words:
            print(f"  {label:10}{words}")


def print_times(timings: Mapping[str, StageTiming], metrics: Mapping[str, float]) -> None:
    """The time of each stage, and of the whole."""
    for stage, timing in timings.items():
        print(f"  {stage:7}{timing.total_s:6.2f} s, first output {timing.first_output_s:.2f} s")
    for metric, value in metrics.items():
        print(f"  {metric.removesuffix('_s'):13}{value:6.2f} s")
