"""Decodes chosen frames of a video and as little else as can be."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import av
from av.container import InputContainer

from backend.media.container import packets
from backend.media.timeline import Clock, Timeline


class FrameReader:
    """Goes through the file once and yields each wanted frame with its stamp.

    Packets reach the decoder only from the keyframe before a wanted frame up to that frame. The
    file itself is read from start to end, since live WebM has no index to seek by. Where a
    wanted frame is missing the next one stands for it.

    Attributes:
        damaged: Whether a packet could not be decoded.
    """

    def __init__(
        self,
        container: InputContainer,
        stream: av.VideoStream,
        timeline: Timeline,
        wanted: list[int],
    ) -> None:
        """Read from an open container that nothing was read from yet."""
        self.damaged = False
        self._packets = packets(container, stream)
        self._decoder = stream.codec_context
        self._timeline = timeline
        self._wanted = deque(wanted)
        self._packet_clock, self._frame_clock = Clock(container), Clock(container)
        self._newest_key: int | None = None
        self._awaited_key: int | None = None

    def __iter__(self) -> Iterator[tuple[int, av.VideoFrame]]:
        """Yield ``(stamp in ticks, PyAV frame)`` in the order of showing."""
        for packet in self._packets:
            if not self._is_needed(packet):
                continue
            for frame in self._decode(packet):
                stamp = self._frame_clock.read(frame)
                if stamp < self._wanted[0]:
                    continue
                yield stamp, frame
                self._move_past(stamp)
                if not self._wanted:
                    return
                if self._awaited_key is not None:
                    break

    def _is_needed(self, packet: av.Packet) -> bool:
        if packet.size == 0:
            return True
        stamp = self._packet_clock.read(packet)
        if self._awaited_key is not None:
            if not packet.is_keyframe or stamp < self._awaited_key:
                return False
            self._decoder.flush_buffers()
            self._awaited_key = None
        if packet.is_keyframe:
            self._newest_key = stamp
        return True

    def _decode(self, packet: av.Packet) -> list[av.VideoFrame]:
        try:
            return list(packet.decode())
        except av.FFmpegError:
            self.damaged = True
            return []

    def _move_past(self, stamp: int) -> None:
        """Go on to the next wanted frame, by way of its keyframe if that is still to come."""
        while self._wanted and self._wanted[0] <= stamp:
            self._wanted.popleft()
        key = self._timeline.start_of(self._wanted[0]) if self._wanted else None
        if key is not None and (self._newest_key is None or key > self._newest_key):
            self._awaited_key = key
