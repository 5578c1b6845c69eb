"""A task without the page: ``python -m backend.cli task --query-type tts_sft --text "Hello."``."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from backend.cli.complaints import OptionWrong, complain, parse
from backend.cli.reporting import print_outcome, print_times, print_words
from backend.cli.task_options import TaskOptions
from backend.cli.task_reading import AskedTask, read_task
from backend.cli.task_record import SUFFIXES, TaskRecord
from backend.contract.errors import TurnRefused
from backend.contract.events import Outcome
from backend.contract.turn import Turn, TurnSettings
from backend.engines.choose import engine_factory
from backend.runtime.engine_thread import EngineThread
from backend.tasks.job import TaskJob


def work_on_task() -> int:
    """Do the task as often as is asked, all at once; 1 when any failed, 2 for wrong options."""
    options = parse(TaskOptions)
    folder = options.output_dir / options.query_type
    try:
        asked = read_task(options)
    except OptionWrong as wrong:
        return complain(str(wrong))
    names = _names(asked.name, options.num_prompts)
    if lost := _overwritten(asked.files, folder, names):
        return complain(f"The reply would overwrite {lost}; choose another --output-dir.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return complain(f"--output-dir: {folder} cannot be made: {error.strerror}.")
    engine = EngineThread(
        engine_factory(options),
        stall_timeout_s=options.stall_timeout_s,
        max_waiting=max(options.max_waiting_turns, options.num_prompts),
    )
    engine.start()
    try:
        records = asyncio.run(_do_all(asked, names, options.max_reply_tokens, engine))
    finally:
        engine.close()
    for record in records:
        if record.came_to_something:
            record.write(folder)
        if record.refused and not record.came_to_something:
            print(f"{record.name}: {record.message}", file=sys.stderr)
        else:
            _report(record)
    return int(any(record.outcome is Outcome.FAILED for record in records))


def _names(name: str, count: int) -> list[str]:
    return [name] if count == 1 else [f"{name}-{number}" for number in range(1, count + 1)]


def _overwritten(files: tuple[Path, ...], folder: Path, names: list[str]) -> Path | None:
    """The first file of the question that would be written over."""
    inputs = {path.resolve() for path in files}
    outputs = (folder / f"{name}{suffix}" for name in names for suffix in SUFFIXES)
    return next((path for path in outputs if path.resolve() in inputs), None)


async def _do_all(
    asked: AskedTask, names: list[str], max_reply_tokens: int, engine: EngineThread
) -> list[TaskRecord]:
    settings = TurnSettings(max_reply_tokens=max_reply_tokens, spoken=asked.kind.speaks)
    turns = [Turn(name, generation=0, task=asked.request, settings=settings) for name in names]
    return await asyncio.gather(*(_do(turn, engine) for turn in turns))


async def _do(turn: Turn, engine: EngineThread) -> TaskRecord:
    record = TaskRecord(turn.session_id)
    try:
        async for event in TaskJob(turn, engine.submit).events():
            record.apply(event)
    except TurnRefused as refusal:
        record.refused, record.message = True, refusal.message
    return record


def _report(record: TaskRecord) -> None:
    print_outcome(record.name, record.outcome, record.message)
    print_words(
        [
            ("sent", _sent(record)),
            ("heard", record.heard),
            ("reasoning", record.reasoning.strip()),
            ("reply", record.reply.strip()),
            ("silent", record.silence),
            ("note", " ".join(record.notices)),
        ]
    )
    print_times(record.timings, record.metrics)


def _sent(record: TaskRecord) -> str:
    sent = record.sent
    if sent is None:
        return ""
    left_out = f", without the {sent.left_out} oldest turns" if sent.left_out else ""
    return f"{sent.tokens} of {sent.limit} tokens{left_out}"
