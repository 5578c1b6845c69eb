"""When the pictures of a video are shown, read from its packets without decoding any."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import av
import numpy as np
from av.container import InputContainer
from numpy.typing import NDArray

from backend.media.container import packets

# A frame at which decoding may start is taken instead of one this share of a step away.
_KEYFRAME_SNAP = 0.25


class Clock:
    """Timestamps of packets or frames in ticks; one that is missing follows from the one before.

    AVI numbers its packets in the order of decoding, so there the decoding time counts.
    """

    def __init__(self, container: InputContainer) -> None:
        self._names = ("dts",) if container.format.name == "avi" else ("pts", "dts")
        self._expected = 0

    def read(self, item: av.Packet | av.VideoFrame) -> int:
        """The time of the next packet or frame."""
        known = (getattr(item, name) for name in self._names)
        stamp = next((stamp for stamp in known if stamp is not None), self._expected)
        self._expected = stamp + (item.duration or 1)
        return stamp


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """The pictures of a video in the order of showing.

    Attributes:
        stamps: Shape ``(T,)``, int64 ticks, ascending, ``T >= 0``.
        keyframes: Shape ``(K,)``, int64 ticks, ascending: where decoding may start.
        tick_s: Length of a tick in seconds.
        duration_s: From the first picture to the end of the last, in seconds.
    """

    stamps: NDArray[np.int64]
    keyframes: NDArray[np.int64]
    tick_s: Fraction
    duration_s: float

    def seconds(self, stamp: int) -> float:
        """Time of a picture in seconds from the first one."""
        return float((stamp - int(self.stamps[0])) * self.tick_s)

    def start_of(self, stamp: int) -> int | None:
        """The last keyframe at or before ``stamp``; none when there is none."""
        index = int(np.searchsorted(self.keyframes, stamp, side="right")) - 1
        return int(self.keyframes[index]) if index >= 0 else None

    def choose(self, count: int) -> list[int]:
        """Up to ``count`` stamps, spread evenly in time from the first picture to the last.

        A keyframe close to the even place is preferred: it decodes alone, so that a long video
        takes no longer than a short one.
        """
        if len(self.stamps) <= count:
            return [int(stamp) for stamp in self.stamps]
        first, last = self.stamps[0], self.stamps[-1]
        even = np.linspace(first, last, count) if count > 1 else np.array([(first + last) / 2])
        chosen = _nearest(self.stamps, even)
        if len(self.keyframes):
            near = _nearest(self.keyframes, chosen)
            reach = _KEYFRAME_SNAP * (last - first) / max(count - 1, 1)
            chosen = np.where(np.abs(near - chosen) <= reach, near, chosen)
        return [int(stamp) for stamp in np.unique(chosen)]


def read_timeline(container: InputContainer, stream: av.VideoStream) -> Timeline:
    """Go through the whole file once. Counts, rates and lengths in its header are not trusted."""
    clock = Clock(container)
    stamps, keyframes = array("q"), array("q")
    latest, last_ticks = -(2**63), 0
    for packet in packets(container, stream):
        if packet.size == 0 or packet.is_discard:
            continue
        stamp = clock.read(packet)
        if stamp >= latest:
            latest, last_ticks = stamp, packet.duration or 0
        stamps.append(stamp)
        if packet.is_keyframe:
            keyframes.append(stamp)
    shown = np.unique(np.asarray(stamps, np.int64))
    ticks = int(shown[-1] - shown[0]) + last_ticks if len(shown) else 0
    return Timeline(
        stamps=shown,
        keyframes=np.unique(np.asarray(keyframes, np.int64)),
        tick_s=stream.time_base,
        duration_s=float(ticks * stream.time_base),
    )


def _nearest(sorted_stamps: NDArray[np.int64], targets: NDArray[Any]) -> NDArray[np.int64]:
    after = np.searchsorted(sorted_stamps, targets).clip(1, max(len(sorted_stamps) - 1, 1))
    before = sorted_stamps[after - 1]
    following = sorted_stamps[np.minimum(after, len(sorted_stamps) - 1)]
    nearest: NDArray[np.int64] = np.where(
        targets - before <= following - targets, before, following
    )
    return nearest
