"""Recordings that tasks hear and make, kept as files for an hour after their last use."""

from __future__ import annotations

import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import soundfile

from backend.contract.errors import Field, TurnRefused
from backend.contract.media import AudioClip
from backend.tasks.recording import Recording, ShelfClip

_FREE_BYTES = 500_000_000  # room on the disk that is left to others


@dataclass(frozen=True, slots=True)
class ShelfLimits:
    """Bounds of a shelf.

    Attributes:
        own_clips: Recordings of one owner; the one unused longest makes room for a new one.
        own_bytes: Bytes of these.
        common_owner: Stands for many who do not know of each other. What was used within
            ``common_s`` seconds makes no room for what is new: it may be another's.
        common_s: See there.
        clips: Recordings of everybody; a new one beyond them is refused.
        all_bytes: Bytes of these.
        age_s: Seconds after its last use in which a recording is forgotten.
    """

    own_clips: int = 500
    own_bytes: int = 300_000_000
    common_owner: str = ""
    common_s: float = 600.0
    clips: int = 4000
    all_bytes: int = 2_000_000_000
    age_s: float = 3600.0


class ClipShelf:
    """Keeps recordings in a folder that goes when the shelf is closed.

    Any thread may call; all methods block, for as long as a file takes.
    """

    def __init__(
        self, limits: ShelfLimits | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Make an empty shelf."""
        self._limits = limits or ShelfLimits()
        self._clock = clock
        self._folder = tempfile.TemporaryDirectory(prefix="omni-live-clips-")
        self._clips: dict[str, ShelfClip] = {}  # the one used last is at the end
        self._lock = threading.Lock()

    def close(self) -> None:
        """Forget everything."""
        with self._lock:
            self._clips.clear()
        self._folder.cleanup()

    def keep(self, owner: str, clip: AudioClip) -> ShelfClip:
        """Keep what ``owner`` sent in.

        Raises:
            TurnRefused: ``shelf_full``.
        """
        recording = self.record(owner, "", clip.sample_rate)
        try:
            recording.add(clip.samples)
            return recording.finish()
        except OSError as error:
            recording.discard()
            raise _full() from error

    def record(self, owner: str, made_by: str, sample_rate: int) -> Recording:
        """Begin to keep what is still being made.

        Args:
            owner: Who alone may use it.
            made_by: Who speaks, for people.
            sample_rate: Rate of what will be added, in hertz.
        """
        clip_id = secrets.token_hex(16)
        path = Path(self._folder.name) / f"{clip_id}.wav"
        return Recording(ShelfClip(clip_id, owner, path, made_by), sample_rate, self._put)

    def clip(self, owner: str, clip_id: str) -> ShelfClip:
        """The recording with this id, which is used by that.

        Raises:
            TurnRefused: ``clip_unknown``, also where it is another person's.
        """
        self.sweep()
        with self._lock:
            found = self._clips.get(clip_id)
            if found is None or found.owner != owner:
                raise clip_unknown()
            self._clips[clip_id] = self._clips.pop(clip_id)
            found.used_at = self._clock()
            return found

    def sound(self, owner: str, clip_id: str) -> AudioClip:
        """What is heard in the recording with this id.

        Raises:
            TurnRefused: ``clip_unknown``.
        """
        try:
            with self.clip(owner, clip_id).path.open("rb") as file:
                samples, rate = soundfile.read(file, dtype="float32")
        except FileNotFoundError as error:
            raise clip_unknown() from error
        return AudioClip(samples, rate)

    def sweep(self) -> None:
        """Forget what has not been used for too long."""
        oldest = self._clock() - self._limits.age_s
        with self._lock:
            for clip in [one for one in self._clips.values() if one.used_at < oldest]:
                self._forget(clip)

    def _put(self, clip: ShelfClip) -> ShelfClip:
        self.sweep()
        clip.used_at = self._clock()
        with self._lock:
            if not self._make_room(clip):
                clip.path.unlink(missing_ok=True)
                raise _full()
            self._clips[clip.id] = clip
        return clip

    def _make_room(self, clip: ShelfClip) -> bool:
        limits = self._limits
        own = [one for one in self._clips.values() if one.owner == clip.owner]
        spared_s = limits.common_s if clip.owner == limits.common_owner else 0.0
        size = clip.size + sum(one.size for one in own)
        while own and (len(own) >= limits.own_clips or size > limits.own_bytes):
            if clip.used_at - own[0].used_at < spared_s:
                return False
            size -= own[0].size
            self._forget(own.pop(0))
        in_all = clip.size + sum(one.size for one in self._clips.values())
        return (
            size <= limits.own_bytes
            and len(self._clips) < limits.clips
            and in_all <= limits.all_bytes
            and shutil.disk_usage(self._folder.name).free > _FREE_BYTES
        )

    def _forget(self, clip: ShelfClip) -> None:
        del self._clips[clip.id]
        clip.path.unlink(missing_ok=True)


def clip_unknown() -> TurnRefused:
    """Why a recording cannot be had that was never there, or made room for another meanwhile."""
    text = "This recording is not there any more. Send it again."
    return TurnRefused("clip_unknown", text, Field.AUDIO)


def _full() -> TurnRefused:
    text = "There is no room for more recordings just now. Try again later."
    return TurnRefused("shelf_full", text, Field.AUDIO)
