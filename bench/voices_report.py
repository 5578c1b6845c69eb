"""The results of the benchmark of voices: a table, JSON and a plot."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from bench.took import Row, Took, p95, plot_first_sound

DEPLOY = {
    "bare, engine": "deploy/qwen3_tts_80gb.yaml: graphs for decoding alone, no torch.compile",
    "stock": "vLLM-Omni's own qwen3_tts.yaml: torch.compile, the second model runner",
}


class Report:
    """Tells each row as soon as it is measured, and keeps all of them on disk."""

    def __init__(self, folder: Path, machine: str, *, dummy: bool) -> None:
        """Write into ``folder``."""
        self._folder = folder
        self._rows: list[Row] = []
        self._result: dict[str, Any] = {
            "machine": machine,
            "dummy": dummy,
            "deploy": DEPLOY,
            "start_s": {},
            "rows": self._rows,
        }

    def started(self, what: str, seconds: float) -> None:
        """Tell how long a start took."""
        self._result["start_s"][what] = seconds
        print(f"{what}: ready in {seconds:.0f} s", flush=True)

    def add(self, way: str, voice: str, requests: int, took: Sequence[Took]) -> None:
        """Take in what the requests of one row took.

        Beside the first sound, a row tells after how long a player may start that will then not
        run dry: the time until speech can be heard unbroken.

        Raises:
            RuntimeError: One of them gave no sound.
        """
        if not all(one.spoken_s for one in took):
            raise RuntimeError(f"A request gave no sound: {way}, {voice}, {requests} at once.")
        sounds = [one.sound_s for one in took]
        paces = [one.total_s / one.spoken_s for one in took]
        row = {
            "way": way,
            "voice": voice,
            "requests": requests,
            "turns": len(took),
            "first_sound_p50_s": median(sounds),
            "first_sound_p95_s": p95(sounds),
            "rtf_p50": median(paces),
            "rtf_p95": p95(paces),
            "dry_p95_s": p95([one.dry_s for one in took]),
            "unbroken_p50_s": median(one.sound_s + one.dry_s for one in took),
        }
        row |= self._against_bare(row)
        each = {"first_sound_s": sounds, "rtf": paces, "dry_s": [one.dry_s for one in took]}
        rounded = {key: [round(value, 4) for value in values] for key, values in each.items()}
        self._rows.append(row | {"each": rounded})
        print(_line(row), flush=True)
        self._write()

    def _against_bare(self, row: Row) -> dict[str, float]:
        same = [
            other
            for other in self._rows
            if (other["way"], other["voice"], other["requests"])
            == ("bare", row["voice"], row["requests"])
        ]
        return {
            f"{key}_against_bare": row[key] / other[key]
            for other in same
            for key in ("first_sound_p50_s", "rtf_p50")
        }

    def _write(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / "voices.json").write_text(json.dumps(self._result, indent=1) + "\n")
        by_way: dict[str, dict[str, Row]] = {}
        for row in self._rows:
            under = "\n".join([*row["voice"].split(", "), f"{row['requests']} at once"])
            by_way.setdefault(row["way"], {})[under] = row
        title = f"Qwen3-TTS 1.7B, {self._result['machine']}"
        plot_first_sound(self._folder / "voices.png", title, by_way)


def _line(row: Row) -> str:
    ratios = [row[key] for key in row if key.endswith("_against_bare")]
    told = "  ours/bare {:.2f}, {:.2f}".format(*ratios) if ratios and row["way"] == "engine" else ""
    middle, slowest = (1000 * row[f"first_sound_{part}_s"] for part in ("p50", "p95"))
    return (
        f"{row['way']:7} {row['voice']:20} {row['requests']:2} at once"
        f"  sound {middle:5.0f} / {slowest:5.0f} ms"
        f"  RTF {row['rtf_p50']:.3f} / {row['rtf_p95']:.3f}"
        f"  unbroken {1000 * row['unbroken_p50_s']:5.0f} ms{told}"
    )
