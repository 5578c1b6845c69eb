"""The same pipeline without the page: ``python -m backend.cli --audio q.wav --output-dir out``."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from pydantic import Field
from pydantic_settings import CliApp

from backend.contract.errors import TurnRefused
from backend.contract.events import Outcome
from backend.conversation.pcm import to_wav
from backend.conversation.record import TurnRecord
from backend.conversation.session import Session
from backend.engines.choose import engine_factory
from backend.media.intake import Question, read_question
from backend.media.limits import MediaLimits
from backend.runtime.engine_thread import EngineThread
from backend.settings import Settings

VIDEO_SUFFIXES = {".mp4", ".mov", ".webm", ".mkv", ".avi", ".m4v"}
IMAGE_SUFFIXES = {".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif"}
AUDIO_SUFFIXES = {".wav", ".mp3", ".m4a", ".flac", ".ogg", ".opus", ".aac"}


class CliOptions(Settings):
    """Ask by files and print what comes back; every setting of the app is an option too."""

    text: str = Field("", description="Typed words, asked with every clip.")
    audio: Path | None = Field(None, description="A recording, or a folder of clips to go through.")
    video: Path | None = Field(None, description="A video.")
    image: Path | None = Field(None, description="A picture.")
    output_dir: Path = Field(Path("out"), description="Where {turn}.txt and {turn}.wav go.")


class Clips(NamedTuple):
    """The files of one turn, and the name of what it writes."""

    name: str
    audio: Path | None = None
    video: Path | None = None
    image: Path | None = None


def clips_of(options: CliOptions) -> list[Clips]:
    """One entry a turn; a folder gives one for each media file in it, by name.

    Two files that differ only in their suffix keep it in their names.
    """
    if not (options.audio and options.audio.is_dir()):
        given = options.audio or options.video or options.image
        name = given.stem if given else "text"
        return [Clips(name, options.audio, options.video, options.image)]
    kinds = AUDIO_SUFFIXES | VIDEO_SUFFIXES | IMAGE_SUFFIXES
    files = sorted(file for file in options.audio.iterdir() if file.suffix.lower() in kinds)
    stems = Counter(file.stem for file in files)
    return [_by_kind(file, file.stem if stems[file.stem] == 1 else file.name) for file in files]


def main() -> int:
    """Run every question as a turn of its own conversation; 1 when any of them failed."""
    options = CliApp.run(CliOptions)
    turns = clips_of(options)
    if not turns:
        print(f"No clips in {options.audio}", file=sys.stderr)
        return 2
    if overwritten := _overwritten(turns, options.output_dir):
        print(
            f"The reply would overwrite {overwritten}; choose another --output-dir.",
            file=sys.stderr,
        )
        return 2
    engine = EngineThread(engine_factory(options), stall_timeout_s=options.stall_timeout_s)
    engine.start()
    try:
        return asyncio.run(_ask_all(turns, options, engine))
    finally:
        engine.close()


def _overwritten(turns: list[Clips], folder: Path) -> Path | None:
    inputs = {path.resolve() for clips in turns for path in clips[1:] if path}
    outputs = (folder / f"{clips.name}.wav" for clips in turns)
    return next((path for path in outputs if path.resolve() in inputs), None)


def _by_kind(file: Path, name: str) -> Clips:
    suffix = file.suffix.lower()
    if suffix in VIDEO_SUFFIXES:
        return Clips(name, video=file)
    return Clips(name, image=file) if suffix in IMAGE_SUFFIXES else Clips(name, audio=file)


async def _ask_all(turns: list[Clips], options: CliOptions, engine: EngineThread) -> int:
    options.output_dir.mkdir(parents=True, exist_ok=True)
    limits = MediaLimits.from_settings(options)
    failures = 0
    for name, audio, video, image in turns:
        try:
            question = await asyncio.to_thread(read_question, audio, video, image, limits)
            record = await _ask(options.text, question, engine)
        except TurnRefused as refusal:
            print(f"{name}: {refusal.message}", file=sys.stderr)
            failures += 1
            continue
        _write(options.output_dir, name, record)
        _report(name, record)
        failures += record.outcome is Outcome.FAILED
    return 1 if failures else 0


async def _ask(text: str, question: Question, engine: EngineThread) -> TurnRecord:
    session = Session("command-line", engine.submit)
    record = session.ask(text=text, audio=question.audio, frames=question.frames)
    await session.settled()
    return record


def _write(folder: Path, name: str, record: TurnRecord) -> None:
    (folder / f"{name}.txt").write_text(record.reply, encoding="utf-8")
    if record.speech:
        wav = to_wav(bytes(record.speech), record.sample_rate)
        (folder / f"{name}.wav").write_bytes(wav)


def _report(name: str, record: TurnRecord) -> None:
    outcome = record.outcome or Outcome.FAILED
    print(f"{name}: {outcome}{f' ({record.message})' if record.message else ''}")
    for label, words in [
        ("asked", record.question),
        ("seen", record.scene),
        ("reply", record.reply.strip()),
        ("silent", record.silence),
    ]:
        if words:
            print(f"  {label:7}{words}")
    for stage, timing in record.timings.items():
        print(f"  {stage:7}{timing.total_s:6.2f} s, first output {timing.first_output_s:.2f} s")
    for metric, value in record.metrics.items():
        print(f"  {metric.removesuffix('_s'):13}{value:6.2f} s")


if __name__ == "__main__":
    sys.exit(main())
