"""The same pipeline without the page: ``python -m backend.cli --audio q.wav --output-dir out``."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import soxr

from backend.cli.clips import Clips, clips_of, overwritten
from backend.cli.complaints import complain, parse
from backend.cli.options import CliOptions
from backend.cli.reporting import print_outcome, print_times, print_words
from backend.contract.errors import TurnRefused
from backend.contract.events import Outcome
from backend.contract.media import AudioClip
from backend.contract.turn import TurnSettings
from backend.conversation.pcm import to_wav
from backend.conversation.record import TurnRecord
from backend.conversation.session import Session
from backend.engines.choose import engine_factory
from backend.media.intake import Question, read_question
from backend.media.limits import MediaLimits
from backend.runtime.engine_thread import EngineThread


def ask_by_files() -> int:
    """Run every question as a turn of its own conversation; 1 when any of them failed."""
    options = parse(CliOptions)
    turns = clips_of(options)
    if not turns:
        return complain(f"No clips in {options.audio}")
    if lost := overwritten(turns, options.output_dir):
        return complain(f"The reply would overwrite {lost}; choose another --output-dir.")
    try:
        settings = options.for_turn(_reference(options))
    except TurnRefused as refusal:
        return complain(f"--ref-audio: {refusal.message}")
    engine = EngineThread(
        engine_factory(options),
        stall_timeout_s=options.stall_timeout_s,
        max_waiting=max(options.max_waiting_turns, options.num_prompts),
    )
    engine.start()
    try:
        return asyncio.run(_ask_all(turns, options, settings, engine))
    finally:
        engine.close()


def _reference(options: CliOptions) -> AudioClip | None:
    if options.ref_audio is None:
        return None
    limits = MediaLimits.from_settings(options)
    return read_question(options.ref_audio, None, None, limits).audio


async def _ask_all(
    turns: list[Clips], options: CliOptions, settings: TurnSettings, engine: EngineThread
) -> int:
    options.output_dir.mkdir(parents=True, exist_ok=True)
    failures = 0
    # The prompts of one question are worked on at once, the questions one after the other.
    for start in range(0, len(turns), options.num_prompts):
        batch = turns[start : start + options.num_prompts]
        asked = (_ask(clips, options, settings, engine) for clips in batch)
        for clips, record in zip(batch, await asyncio.gather(*asked), strict=True):
            if record is None:
                failures += 1
                continue
            _write(options.output_dir, clips.name, record)
            _report(clips.name, record)
            failures += record.outcome is Outcome.FAILED
    return 1 if failures else 0


async def _ask(
    clips: Clips, options: CliOptions, settings: TurnSettings, engine: EngineThread
) -> TurnRecord | None:
    limits = MediaLimits.from_settings(options)
    try:
        question = await asyncio.to_thread(
            read_question, clips.audio, clips.video, clips.image, limits
        )
        question = _at_rate(question, options.sampling_rate)
        session = Session(clips.name, engine.submit)
        record = session.ask(
            text=options.text, audio=question.audio, frames=question.frames, settings=settings
        )
        await session.settled()
    except TurnRefused as refusal:
        print(f"{clips.name}: {refusal.message}", file=sys.stderr)
        return None
    return record


def _at_rate(question: Question, rate: int) -> Question:
    clip = question.audio
    if clip is None or clip.sample_rate == rate:
        return question
    samples = soxr.resample(clip.samples, clip.sample_rate, rate)
    return replace(question, audio=AudioClip(samples, rate))


def _write(folder: Path, name: str, record: TurnRecord) -> None:
    (folder / f"{name}.txt").write_text(record.reply, encoding="utf-8")
    if record.speech:
        wav = to_wav(bytes(record.speech), record.sample_rate)
        (folder / f"{name}.wav").write_bytes(wav)


def _report(name: str, record: TurnRecord) -> None:
    print_outcome(name, record.outcome or Outcome.FAILED, record.message)
    print_words(
        [
            ("asked", record.question),
            ("seen", record.scene),
            ("reply", record.reply.strip()),
            ("silent", record.silence),
            ("note", " ".join(record.notices)),
        ]
    )
    print_times(record.timings, record.metrics)
