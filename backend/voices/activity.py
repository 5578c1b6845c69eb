"""When somebody speaks in a reference clip, however quiet it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backend.contract.media import AudioClip, Samples
from backend.engines.embedded.speech_detector import SAMPLE_RATE, at_model_rate

# The detector misses speech at -55 dBFS as it comes. One loud click must not keep it there.
_LOUD_PART, _LOUD = 99.5, 0.3  # percentile of the samples' sizes, and where it is brought to
_MAX_GAIN = 1000.0  # 60 dB: what needs more is the noise of the converter
_FADING = SAMPLE_RATE // 10  # words begin before the detector hears them, and die away after
_MIN_SPEECH_MS = 90  # as the recogniser's own detector in `engines/embedded/speech_detector.py`
_MIN_PAUSE_MS = 200  # shorter ones are stops within words


@dataclass(frozen=True, slots=True, eq=False)
class Activity:
    """A clip at 16 kHz, and where somebody speaks in it.

    Attributes:
        samples: Shape ``(N,)``, float32 at 16 kHz, at the level that it came with.
        spans: First sample of each stretch of speech and the one after its last, ascending.
    """

    samples: Samples
    spans: tuple[tuple[int, int], ...]

    @property
    def speech(self) -> Samples:
        """The stretches of speech, joined; empty when there is none."""
        parts = [self.samples[start:end] for start, end in self.spans]
        return np.concatenate(parts) if parts else np.zeros(0, np.float32)

    @property
    def speech_s(self) -> float:
        """Length of the speech without pauses, in seconds."""
        return sum(end - start for start, end in self.spans) / SAMPLE_RATE

    @property
    def rest(self) -> Samples:
        """What sounds while nobody speaks, joined, without what is next to speech."""
        silent = np.ones(len(self.samples), bool)
        for start, end in self.spans:
            silent[max(0, start - _FADING) : end + _FADING] = False
        return self.samples[silent]

    def within(self, start_s: float, end_s: float) -> Activity:
        """The part between two times, its spans told from its own begin."""
        first, last = round(start_s * SAMPLE_RATE), round(end_s * SAMPLE_RATE)
        cut = ((max(start, first) - first, min(end, last) - first) for start, end in self.spans)
        spans = tuple((start, end) for start, end in cut if start < end)
        return Activity(self.samples[first:last], spans)


def find_speech(clip: AudioClip) -> Activity:
    """Where somebody speaks in a clip of any level."""
    samples = at_model_rate(clip)
    return Activity(samples, tuple(_spans(_levelled(samples))))


def _levelled(samples: Samples) -> Samples:
    sizes = np.abs(samples[samples != 0])
    if not sizes.size:
        return samples
    gain = min(_LOUD / float(np.percentile(sizes, _LOUD_PART)), _MAX_GAIN)
    levelled: Samples = np.clip(samples * np.float32(gain), -1.0, 1.0)
    return levelled


def _spans(samples: Samples) -> list[tuple[int, int]]:
    from faster_whisper.vad import VadOptions, get_speech_timestamps

    options = VadOptions(
        threshold=0.5,
        min_speech_duration_ms=_MIN_SPEECH_MS,
        min_silence_duration_ms=_MIN_PAUSE_MS,
        speech_pad_ms=0,
    )
    found = get_speech_timestamps(samples, options)
    return [(int(span["start"]), min(int(span["end"]), len(samples))) for span in found]
