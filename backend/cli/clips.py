"""Which questions the named files make."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from backend.cli.options import CliOptions

VIDEO_SUFFIXES = {".mp4", ".mov", ".webm", ".mkv", ".avi", ".m4v"}
IMAGE_SUFFIXES = {".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif"}
AUDIO_SUFFIXES = {".wav", ".mp3", ".m4a", ".flac", ".ogg", ".opus", ".aac"}


@dataclass(frozen=True, slots=True)
class Clips:
    """The files of one turn, and the name of what it writes."""

    name: str
    audio: Path | None = None
    video: Path | None = None
    image: Path | None = None

    @property
    def files(self) -> list[Path]:
        """Those that there are."""
        return [path for path in (self.audio, self.video, self.image) if path]


def clips_of(options: CliOptions) -> list[Clips]:
    """One entry a turn; a folder gives one for each media file in it, by name.

    Two files that differ only in their suffix keep it in their names. Questions that are asked
    several times are numbered.
    """
    clips = _clips(options)
    if options.num_prompts == 1:
        return clips
    return [
        replace(one, name=f"{one.name}-{number}")
        for one in clips
        for number in range(1, options.num_prompts + 1)
    ]


def overwritten(turns: list[Clips], folder: Path) -> Path | None:
    """The first file of a question that a reply would be written over."""
    inputs = {path.resolve() for clips in turns for path in clips.files}
    outputs = (folder / f"{clips.name}.wav" for clips in turns)
    return next((path for path in outputs if path.resolve() in inputs), None)


def _clips(options: CliOptions) -> list[Clips]:
    if not (options.audio and options.audio.is_dir()):
        given = options.audio or options.video or options.image
        name = given.stem if given else "text"
        return [Clips(name, options.audio, options.video, options.image)]
    kinds = AUDIO_SUFFIXES | VIDEO_SUFFIXES | IMAGE_SUFFIXES
    files = sorted(file for file in options.audio.iterdir() if file.suffix.lower() in kinds)
    stems = Counter(file.stem for file in files)
    return [_by_kind(file, file.stem if stems[file.stem] == 1 else file.name) for file in files]


def _by_kind(file: Path, name: str) -> Clips:
    suffix = file.suffix.lower()
    if suffix in VIDEO_SUFFIXES:
        return Clips(name, video=file)
    return Clips(name, image=file) if suffix in IMAGE_SUFFIXES else Clips(name, audio=file)
