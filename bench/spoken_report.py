"""The results of a benchmark that speaks, several requests at once: a table, JSON and a plot."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from bench.took import Row, Took, p95, plot_first_sound


class Report:
    """Tells each row as soon as it is measured, and keeps all of them on disk."""

    def __init__(
        self, out: Path, model: str, machine: str, deploy: Mapping[str, str], *, dummy: bool
    ) -> None:
        """Begin without any row.

        Args:
            out: Where to write, without ending; JSON and a plot get theirs.
            model: What was measured.
            machine: Where.
            deploy: How each way was set up.
            dummy: Whether on random weights.
        """
        self._out = out
        self._title = f"{model}, {machine}"
        self._rows: list[Row] = []
        self._result: dict[str, Any] = {
            "machine": machine,
            "dummy": dummy,
            "deploy": dict(deploy),
            "start_s": {},
            "rows": self._rows,
        }

    def started(self, what: str, seconds: float) -> None:
        """Tell how long a start took."""
        self._result["start_s"][what] = seconds
        print(f"{what}: ready in {seconds:.0f} s", flush=True)

    def add(self, way: str, what: str, requests: int, took: Sequence[Took]) -> None:
        """Take in what the requests of one row took; ``what`` was asked for, in words.

        Beside the first sound, a row tells after how long a player may start that will then not
        run dry: the time until speech can be heard unbroken.

        Raises:
            RuntimeError: One of them gave no sound.
        """
        if not all(one.spoken_s for one in took):
            raise RuntimeError(f"A request gave no sound: {way}, {what}, {requests} at once.")
        sounds = [one.sound_s for one in took]
        paces = [one.total_s / one.spoken_s for one in took]
        row = {
            "way": way,
            "what": what,
            "requests": requests,
            "turns": len(took),
            "first_text_p50_s": median(one.text_s for one in took),
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
            if (other["way"], other["what"], other["requests"])
            == ("bare", row["what"], row["requests"])
        ]
        return {
            f"{key}_against_bare": row[key] / other[key]
            for other in same
            for key in ("first_sound_p50_s", "rtf_p50")
        }

    def _write(self) -> None:
        self._out.parent.mkdir(parents=True, exist_ok=True)
        told = json.dumps(self._result, indent=1) + "\n"
        self._out.with_suffix(".json").write_text(told)
        by_way: dict[str, dict[str, Row]] = {}
        for row in self._rows:
            under = "\n".join([*row["what"].split(", "), f"{row['requests']} at once"])
            by_way.setdefault(row["way"], {})[under] = row
        plot_first_sound(self._out.with_suffix(".png"), self._title, by_way)


def _line(row: Row) -> str:
    ratios = [row[key] for key in row if key.endswith("_against_bare")]
    told = "  ours/bare {:.2f}, {:.2f}".format(*ratios) if ratios and row["way"] == "engine" else ""
    text_ms = 1000 * row["first_text_p50_s"]  # 0 for a model that writes none
    text = f"  text {text_ms:5.0f} ms" if text_ms else ""
    middle, slowest = (1000 * row[f"first_sound_{part}_s"] for part in ("p50", "p95"))
    return (
        f"{row['way']:7} {row['what']:20} {row['requests']:2} at once{text}"
        f"  sound {middle:5.0f} / {slowest:5.0f} ms"
        f"  RTF {row['rtf_p50']:.3f} / {row['rtf_p95']:.3f}"
        f"  unbroken {1000 * row['unbroken_p50_s']:5.0f} ms{told}"
    )
