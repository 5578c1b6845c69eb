"""The check of a clip, as it is told to a page or another client."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np

from backend.contract.errors import EngineFailed, Field
from backend.contract.media import AudioClip
from backend.engines.ears import Ears
from backend.media.container import sound_channels
from backend.media.limits import MediaLimits
from backend.runtime.engine_thread import EngineThread
from backend.speech_api.uploads import read_sample_at
from backend.voices.preflight import examine
from backend.voices.speaker import load_encoder

RANGE_S = (1.0, 30.0)
"""Seconds of reference that are asked for where the engine copies no voices: vLLM-Omni's own."""

_OUTLINE = 400  # points, enough for any screen


class Checker:
    """Checks one clip at a time, so that many of them do not take the engine's cores."""

    def __init__(self, engine: EngineThread, ears: Ears) -> None:
        """Check for an engine, with the words that ``ears`` hear in a clip."""
        self._engine = engine
        self._ears = ears
        self._turn = asyncio.Lock()

    async def check_file(
        self, path: Path, limits: MediaLimits, words: str, *, x_vector_only: bool
    ) -> dict[str, object]:
        """What was found in a clip.

        Args:
            path: The file that somebody sent.
            limits: Bounds of what is read.
            words: Its reference text, as the person wrote it.
            x_vector_only: Whether the sound of the voice alone is to be copied.

        Raises:
            TurnRefused: It cannot be decoded; see ``backend.media.audio.decode``.
        """
        clip = await read_sample_at(path, limits)
        channels = await asyncio.to_thread(sound_channels, path, Field.AUDIO)
        known = self._engine.status.capabilities
        range_s = known.voice.reference_s if known and known.voice.reference_s[1] else RANGE_S
        loop = asyncio.get_running_loop()

        def hear(part: AudioClip) -> str:
            try:
                hearing = asyncio.run_coroutine_threadsafe(self._ears.hear(part, words), loop)
                return hearing.result() or ""
            except EngineFailed:
                return ""

        async with self._turn:
            report = await asyncio.to_thread(
                examine,
                clip,
                words,
                range_s=range_s,
                channels=channels,
                hear=hear,
                encoder=await asyncio.to_thread(load_encoder),
                x_vector_only=x_vector_only,
            )
        return {
            "usable": report.usable,
            "duration_s": clip.duration_s,
            "kept_s": report.kept_s,
            "heard": report.heard,
            "findings": [
                {"code": one.code, "severity": one.severity, "text": one.text, "fixes": one.fixes}
                for one in report.findings
            ],
            "outline": _outline(clip),
        }


def _outline(clip: AudioClip) -> list[float]:
    """The loudest sample of each of 400 stretches, 0 to 1, to draw the clip by."""
    stretches = np.array_split(np.abs(clip.samples), min(_OUTLINE, clip.samples.size))
    return [round(float(stretch.max()), 3) for stretch in stretches]
