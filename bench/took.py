"""What the benchmarks of the omni engine measure of a turn, and how they tell it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from backend.contract.events import Event, ReplyText, SpeechChunk, StageTiming
from backend.engines.omni.outputs import read_output

Row = dict[str, Any]
"""What one line of a table tells."""


@dataclass(slots=True)
class Took:
    """One turn's times from the request on, and the sound that it gave, in seconds.

    ``stages`` has the time to each stage's first output, as the engine measures it; ``dry_s`` is
    how long a player that starts with the first piece of sound has to stand still in all.
    """

    text_s: float = 0.0
    sound_s: float = 0.0
    total_s: float = 0.0
    spoken_s: float = 0.0
    dry_s: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)

    def add_sound(self, now: float, samples: int, rate: int) -> None:
        """Count a piece of sound that has come ``now``."""
        self.sound_s = self.sound_s or now
        self.dry_s = max(self.dry_s, now - self.sound_s - self.spoken_s)
        self.spoken_s += samples / rate


async def time_events(began: float, events: AsyncIterator[Event]) -> Took:
    """Hear a turn of the engine out; ``began`` is by ``time.perf_counter``."""
    took = Took()
    async for event in events:
        now = time.perf_counter() - began
        match event:
            case ReplyText():
                took.text_s = took.text_s or now
            case SpeechChunk():
                took.add_sound(now, len(event.pcm), event.sample_rate)
            case StageTiming():
                took.stages[event.stage] = event.first_output_s
    took.total_s = time.perf_counter() - began
    return took


async def time_outputs(began: float, outputs: AsyncIterator[Any], *, writer: int = 1) -> Took:
    """Hear a request to the bare ``AsyncOmni`` out; ``writer`` is the stage that writes."""
    took = Took()
    async for output in outputs:
        now, piece = time.perf_counter() - began, read_output(output)
        if output.stage_id == writer and piece.text:
            took.text_s = took.text_s or now
        if len(piece.pcm):
            took.add_sound(now, len(piece.pcm), piece.sample_rate)
    took.total_s = time.perf_counter() - began
    return took


def p95(values: Sequence[float]) -> float:
    """The 95th percentile: a measured value, not one between two."""
    return float(np.percentile(values, 95, method="higher"))


def numbers(text: str) -> list[int]:
    """``1,8`` as numbers."""
    return [int(part) for part in text.split(",") if part]


def plot_first_sound(path: Path, title: str, rows: Mapping[str, Mapping[str, Row]]) -> None:
    """Draw medians as bars and 95th percentiles as ticks.

    Args:
        path: Where to.
        title: What was measured.
        rows: For each way, its rows by what stands under their bars.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    labels = list(dict.fromkeys(label for mine in rows.values() for label in mine))
    figure, axes = pyplot.subplots(figsize=(max(8, 1.3 * len(labels)), 4), layout="constrained")
    width = 0.8 / len(rows)
    for n, (way, mine) in enumerate(rows.items()):
        places = [labels.index(label) + (n - (len(rows) - 1) / 2) * width for label in mine]
        heights = [row["first_sound_p50_s"] for row in mine.values()]
        slowest = [row["first_sound_p95_s"] for row in mine.values()]
        axes.bar(places, heights, 0.95 * width, label=f"{way}, median")
        axes.plot(places, slowest, "k_", markersize=28 * width)
    axes.set_xticks(range(len(labels)), labels)
    axes.set_ylabel("request → first sound, s (tick: p95)")
    axes.set_title(title)
    figure.legend(loc="outside right upper")
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
