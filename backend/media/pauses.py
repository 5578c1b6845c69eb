"""Cuts a long recording where nobody speaks, so that each piece fits the recogniser's output."""

from __future__ import annotations

import numpy as np

from backend.contract.media import AudioClip

MAX_PIECE_S = 30.0
"""Longest piece: fast speech has about 5 tokens a second, and a transcript at most 256."""

_SEARCH_S = 10.0
"""How far before the longest length a pause is looked for, in seconds."""

_PAUSE_S = 0.2


def pieces(clip: AudioClip, longest_s: float = MAX_PIECE_S) -> list[AudioClip]:
    """The clip in pieces of at most ``longest_s``; joined, they are the clip itself.

    A cut lies in the quietest 0.2 s of the last ten seconds that a piece may have.
    """
    rate, rest = clip.sample_rate, clip.samples
    longest, search, pause = (int(s * rate) for s in (longest_s, _SEARCH_S, _PAUSE_S))
    cut: list[AudioClip] = []
    while len(rest) > longest:
        start = max(pause, longest - search)
        window = np.square(rest[start:longest], dtype=np.float64)
        energy = np.convolve(window, np.ones(pause), "valid")
        end = start + int(np.argmin(energy)) + pause // 2
        cut.append(AudioClip(rest[:end], rate))
        rest = rest[end:]
    return [*cut, AudioClip(rest, rate)]


def is_quiet(clip: AudioClip, floor_db: float = -50.0) -> bool:
    """Whether there is no sound to speak of: no 0.1 s of the clip is louder than ``floor_db``.

    Args:
        clip: The recording.
        floor_db: Root mean square of the loudest 0.1 s, in decibels of full scale.
    """
    step = max(1, clip.sample_rate // 10)
    whole = clip.samples[: len(clip.samples) // step * step] if len(clip.samples) > step else None
    rows = clip.samples.reshape(1, -1) if whole is None else whole.reshape(-1, step)
    loudest = float(np.square(rows, dtype=np.float64).mean(axis=1).max())
    return loudest < 10 ** (floor_db / 10)
