"""Headless Chromium for the benchmarks, and the numbers that they print."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Playwright

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def launch(
    playwright: Playwright, microphone: Path | None = None, *, fake_devices: bool = False
) -> Browser:
    """Start Debian's Chromium.

    Args:
        playwright: What starts it.
        microphone: A WAV that a fake microphone plays once.
        fake_devices: Whether there are a fake microphone and camera without it.
    """
    flags = list(FLAGS)
    if fake_devices or microphone is not None:
        flags += ["--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream"]
    if microphone is not None:
        flags.append(f"--use-file-for-fake-audio-capture={microphone}%noloop")
    return playwright.chromium.launch(executable_path=shutil.which("chromium"), args=flags)


def summarise(values: Sequence[float | None]) -> dict[str, float | int]:
    """Median, 95th percentile and extremes, in milliseconds, of the rounds that were heard."""
    heard = [value for value in values if value is not None]
    if not heard:
        return {"heard": 0}
    return {
        "heard": len(heard),
        "median_ms": round(float(np.median(heard)), 1),
        "p95_ms": round(float(np.percentile(heard, 95)), 1),
        "min_ms": round(min(heard), 1),
        "max_ms": round(max(heard), 1),
    }
