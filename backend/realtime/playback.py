"""What the page says of the reply that is sounding."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import soxr

from backend.contract.media import Samples
from backend.conversation.session import Session
from backend.realtime.voice_activity import SAMPLE_RATE

BEFORE_S, AFTER_S = 2.0, 0.5
"""Sound around the reported place in which an echo is looked for: what the report, the loudspeaker
and the microphone may be late by."""

LINGERS_S = 1.5
"""How long after its end a reply may still come back."""


@dataclass(frozen=True, slots=True)
class Place:
    """How far which reply had sounded at some moment."""

    turn_id: str
    played_s: float


class Playback:
    """Follows one page's player, on the web server's loop."""

    def __init__(self, session: Session) -> None:
        """Nothing is sounding."""
        self._session = session
        self._turn_id = ""
        self._played_s = 0.0
        self._playing = False
        self._told_at = 0.0

    def note(self, turn_id: str, played_s: float, *, playing: bool) -> None:
        """Take in the player's report."""
        self._turn_id, self._played_s, self._playing = turn_id, played_s, playing
        self._told_at = time.monotonic()

    @property
    def sounding(self) -> bool:
        """Whether a reply is being played."""
        return self._playing and time.monotonic() - self._told_at <= LINGERS_S

    @property
    def now(self) -> Place | None:
        """What is sounding now; none when nothing has for a while."""
        since_s = time.monotonic() - self._told_at
        if since_s > LINGERS_S:
            return None
        return Place(self._turn_id, self._played_s + (since_s if self._playing else 0.0))

    def around(self, place: Place | None) -> Samples:
        """What sounded shortly before, at, and shortly after a place.

        Returns:
            Shape ``(N,)``, float32 at 16 kHz; empty when there is nothing.
        """
        record = self._session.find(place.turn_id) if place else None
        if place is None or record is None or not record.sample_rate:
            return np.zeros(0, np.float32)
        first = max(0, int((place.played_s - BEFORE_S) * record.sample_rate))
        last = int((place.played_s + AFTER_S) * record.sample_rate)
        pcm16 = np.frombuffer(bytes(record.speech[2 * first : 2 * last]), "<i2")
        samples: Samples = soxr.resample(
            pcm16.astype(np.float32) / 32768, record.sample_rate, SAMPLE_RATE
        )
        return samples
