"""How much of a recording, video or picture is taken in."""

from __future__ import annotations

from dataclasses import dataclass

from backend.settings import Settings


@dataclass(frozen=True, slots=True)
class MediaLimits:
    """Bounds that every file is held to.

    Attributes:
        max_audio_s: Longest recording, in seconds.
        max_video_s: Longest video, in seconds.
        max_bytes: Largest file, in bytes.
        max_frames: Most frames taken from a video.
        long_side: Longest side of a frame, in pixels; smaller ones are not enlarged.
    """

    max_audio_s: float
    max_video_s: float
    max_bytes: int
    max_frames: int = 16
    long_side: int = 640

    @classmethod
    def from_settings(cls, settings: Settings) -> MediaLimits:
        """The limits that the settings give."""
        return cls(
            max_audio_s=settings.max_audio_s,
            max_video_s=settings.max_video_s,
            max_bytes=settings.max_upload_mb * 1_000_000,
            max_frames=settings.max_frames,
            long_side=settings.frame_long_side,
        )
