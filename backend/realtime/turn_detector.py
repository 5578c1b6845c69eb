"""When a person begins to speak, pauses, and has finished: told from the sound alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from backend.contract.media import Samples
from backend.realtime.patience import UNKNOWN_S
from backend.realtime.voice_activity import SAMPLE_RATE, WINDOW, VoiceActivity

WINDOW_S = WINDOW / SAMPLE_RATE

_VOICED = 0.5
_UNVOICED = 0.35  # lower, so that a voice is not cut in two where it is weak

# Confirmed after five voiced windows (160 ms) of the last seven: shorter than any word, longer than
# a click or a key. The first two give the sign to lower the reply's volume.
_CONFIRMED, _LAST, _HINTED = 5, 7, 2
_PAUSE_WINDOWS = 1
_BEFORE_WINDOWS = 10  # the weak beginning of a word is not detected as voice


@dataclass(frozen=True, slots=True)
class MaybeSpeech:
    """The first sign of speech, or that it came to nothing."""

    speaking: bool


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """It is speech. ``at_s`` counts from the first sound of the stream."""

    at_s: float


@dataclass(frozen=True, slots=True)
class SpeechPaused:
    """Nobody has spoken for 32 ms; what was said so far is in ``TurnDetector.utterance``."""


@dataclass(frozen=True, slots=True)
class SpeechResumed:
    """The pause was one in the middle."""


@dataclass(frozen=True, slots=True)
class SpeechEnded:
    """The pause has lasted for ``patience_s``, or the utterance has become too long."""

    at_s: float


Sign = MaybeSpeech | SpeechStarted | SpeechPaused | SpeechResumed | SpeechEnded


class TurnDetector:
    """Follows one microphone.

    Attributes:
        patience_s: The pause that ends the utterance; whoever knows its words sets it.
    """

    def __init__(self, max_s: float) -> None:
        """Listen; no utterance becomes longer than ``max_s`` seconds."""
        self._max_windows = int(max_s / WINDOW_S)
        self._activity = VoiceActivity()
        self._rest = np.zeros(0, np.float32)
        self._heard_windows = 0
        self._kept: deque[Samples] = deque(maxlen=_BEFORE_WINDOWS + _LAST)
        self.reset()

    def reset(self) -> None:
        """Drop the utterance under way and wait for the next."""
        self.patience_s = UNKNOWN_S
        self._said: list[Samples] = []
        self._last: deque[bool] = deque(maxlen=_LAST)
        self._hinted = False
        self._silent_windows = 0

    @property
    def paused(self) -> bool:
        """Whether nobody has spoken for 32 ms or longer."""
        return self._silent_windows >= _PAUSE_WINDOWS

    @property
    def said_samples(self) -> int:
        """Length of ``utterance``, without joining it."""
        return len(self._said) * WINDOW

    @property
    def utterance(self) -> Samples:
        """What was said so far, with a little before it; shape ``(N,)``, float32 at 16 kHz."""
        return np.concatenate(self._said) if self._said else np.zeros(0, np.float32)

    @property
    def recent(self) -> Samples:
        """The last half second at most that may be speech; shape ``(N,)``, float32 at 16 kHz."""
        return np.concatenate(self._kept) if self._kept else np.zeros(0, np.float32)

    def feed(self, samples: Samples) -> Iterator[Sign]:
        """Take the next sound, shape ``(N,)``, float32 at 16 kHz, and say what it shows.

        A ``reset`` or a new ``patience_s`` holds from the very sign on that it answers.
        """
        self._rest = np.concatenate((self._rest, samples))
        while len(self._rest) >= WINDOW:
            window, self._rest = self._rest[:WINDOW], self._rest[WINDOW:]
            self._heard_windows += 1
            likelihood = self._activity.likelihood(window)
            self._kept.append(window)
            yield from self._follow(window, likelihood) if self._said else self._wait(likelihood)

    @property
    def _now_s(self) -> float:
        return self._heard_windows * WINDOW_S

    def _wait(self, likelihood: float) -> list[Sign]:
        self._last.append(likelihood >= _VOICED)
        voiced = sum(self._last)
        if voiced >= _CONFIRMED:
            self._said = list(self._kept)
            self._silent_windows = 0
            started = SpeechStarted(max(0.0, self._now_s - len(self._last) * WINDOW_S))
            return [started] if self._hinted else [MaybeSpeech(speaking=True), started]
        if voiced >= _HINTED and not self._hinted:
            self._hinted = True
            return [MaybeSpeech(speaking=True)]
        if voiced == 0 and self._hinted:
            self._hinted = False
            return [MaybeSpeech(speaking=False)]
        return []

    def _follow(self, window: Samples, likelihood: float) -> list[Sign]:
        self._said.append(window)
        was_paused = self.paused
        if likelihood >= _VOICED or (likelihood >= _UNVOICED and not was_paused):
            self._silent_windows = 0
            signs: list[Sign] = [SpeechResumed()] if was_paused else []
        else:
            self._silent_windows += 1
            signs = [SpeechPaused()] if self._silent_windows == _PAUSE_WINDOWS else []
        paused_s = self._silent_windows * WINDOW_S
        if (self.paused and paused_s >= self.patience_s) or len(self._said) >= self._max_windows:
            signs.append(SpeechEnded(self._now_s - paused_s))
        return signs
