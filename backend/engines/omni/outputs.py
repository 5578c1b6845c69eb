"""What a stage gives, as plain values, and what the engine measured of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from backend.contract.events import Stage, StageTiming
from backend.contract.media import Samples

_UNTOLD_RATE = 24_000
"""Of MiMo-Audio, whose outputs do not name it."""


@dataclass(frozen=True, slots=True, eq=False)
class StageOutput:
    """One piece of a stage's output.

    Attributes:
        text: The next words, of a stage that writes.
        token_ids: Their tokens.
        finish: Why the stage that writes has ended, such as ``length``; empty until then.
        pcm: Shape ``(N,)``, float32 mono, the next sound, of the stage that sounds.
        sample_rate: Its rate, in hertz; 0 without sound.
        metrics: What the engine measured so far, by stage number.
        waited_s: Seconds that the request was prepared and waited before its first stage.
    """

    text: str = ""
    token_ids: tuple[int, ...] = ()
    finish: str = ""
    pcm: Samples = field(default_factory=lambda: np.zeros(0, np.float32))
    sample_rate: int = 0
    metrics: dict[str, dict[str, Any]] = field(default_factory=dict)
    waited_s: float = 0.0


def read_output(output: Any) -> StageOutput:
    """Read an ``OmniRequestOutput`` whose outputs are deltas.

    A reply without any sound still ends with an output for it, which holds none.
    """
    metrics = (output.metrics or {}).get("stage_metrics", {})
    durations = output.stage_durations or {}
    waited = sum(durations.get(key, 0.0) for key in ("queue_wait_ms", "preprocess_ms")) / 1000
    if not output.outputs:
        return StageOutput(metrics=metrics, waited_s=waited)
    completion = output.outputs[0]
    sound = getattr(completion, "multimodal_output", None) or {}
    if output.final_output_type == "audio" and sound.get("audio") is None:
        return StageOutput(metrics=metrics, waited_s=waited)
    if "audio" not in sound:
        return StageOutput(
            text=completion.text or "",
            token_ids=tuple(completion.token_ids or ()),
            finish=completion.finish_reason or "",
            metrics=metrics,
            waited_s=waited,
        )
    rate = sound.get("sr", _UNTOLD_RATE)
    return StageOutput(
        pcm=_samples(sound["audio"]),
        sample_rate=int(rate.item() if hasattr(rate, "item") else rate),
        metrics=metrics,
        waited_s=waited,
    )


def _samples(audio: Any) -> Samples:
    pieces = audio if isinstance(audio, list) else [audio]
    arrays = [
        np.asarray(piece.detach().float().cpu().numpy(), dtype=np.float32).reshape(-1)
        for piece in pieces
    ]
    return np.concatenate(arrays) if arrays else np.zeros(0, np.float32)


class StageClock:
    """Adds up what the engine measured of one stage over the requests of a turn."""

    def __init__(self, stage: Stage, number: int) -> None:
        """``number`` is the stage's place in the pipeline."""
        self.stage = stage
        self._number = str(number)
        self._queue_s: float | None = None
        self._first_s: float | None = None
        self._total_s = 0.0

    def add(self, last: StageOutput) -> None:
        """Take in the last output of a request."""
        measured = last.metrics.get(self._number)
        if measured is None:
            return
        first_ms = measured.get("serving_time_to_first_output_ms") or measured["stage_gen_time_ms"]
        if self._first_s is None:
            self._queue_s, self._first_s = last.waited_s, first_ms / 1000
        self._total_s += measured["stage_gen_time_ms"] / 1000

    def timing(self, turn_id: str) -> StageTiming | None:
        """The stage's times, or none when it did not work for this turn."""
        if self._first_s is None:
            return None
        return StageTiming(
            turn_id=turn_id,
            stage=self.stage,
            queue_s=self._queue_s or 0.0,
            first_output_s=self._first_s,
            total_s=self._total_s,
        )
