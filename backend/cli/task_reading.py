"""From the options to the task."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from backend.cli.complaints import OptionWrong, blaming
from backend.cli.task_messages import Message, ReadClip, read_messages, rounds_of
from backend.cli.task_options import TaskOptions
from backend.contract.tasks import (
    TASKS,
    Input,
    TaskKind,
    TaskRequest,
    check_inputs,
    misfit,
    task_kind,
)
from backend.media.audio import decode
from backend.media.limits import MediaLimits

_RATE = 24_000  # MiMo-Audio's; an engine that hears at a lower rate loses nothing
_OPTIONS = {Input.CLIP: "--audio-path", Input.VOICE: "--voice-path", Input.HISTORY: "--messages"}


@dataclass(frozen=True, slots=True)
class AskedTask:
    """A task, and where it is from.

    Attributes:
        request: The task.
        kind: How it is done.
        name: What its files are to be called.
        files: The files that it was read from.
    """

    request: TaskRequest
    kind: TaskKind
    name: str
    files: tuple[Path, ...]


def read_task(options: TaskOptions) -> AskedTask:
    """The task that the options describe. A text is never taken for the path of a file.

    Raises:
        OptionWrong: An option is missing, is too much, or cannot be used.
    """
    kind = _kind(options)
    _check_words(options)
    messages = read_messages(options.messages) if options.messages else []
    question = _question(options, kind, messages)
    read_clip = partial(decode, limits=MediaLimits.from_settings(options), rate=_RATE)
    request = _request(options, question, messages, read_clip)
    if wrong := misfit(kind, request):
        with blaming(_OPTIONS.get(wrong, f"--{wrong.replace('_', '-')}")):
            check_inputs(kind, request)
    with blaming("--text"):
        check_inputs(kind, request)
    named = (options.messages, question.audio, options.voice_path)
    files = (*named, *(message.audio for message in messages))
    name = next((path.stem for path in named if path), "text")
    return AskedTask(request, kind, name, tuple(path for path in files if path))


def _kind(options: TaskOptions) -> TaskKind:
    if not options.query_type:
        raise OptionWrong(f"--query-type: choose from: {', '.join(TASKS)}.")
    with blaming("--query-type"):
        task_kind(options.query_type)
    with blaming("--variant"):
        return task_kind(options.query_type, options.variant)


def _check_words(options: TaskOptions) -> None:
    for option in ("text", "instruct", "question", "system_prompt"):
        try:
            getattr(options, option).encode()
        except UnicodeEncodeError as error:  # bytes of another encoding
            raise OptionWrong(f"--{option.replace('_', '-')}: this is not UTF-8.") from error


def _question(options: TaskOptions, kind: TaskKind, messages: list[Message]) -> Message:
    """What is asked now: the last message where no answer follows it, else the options."""
    if len(messages) % 2 == 0:
        return Message(role="user", text=options.text, audio=options.audio_path)
    if options.text or options.audio_path:
        text = (
            "--messages: the last of them is the user's, and is answered. Leave out --text and"
            " --audio-path, or have the file end with an answer."
        )
        raise OptionWrong(text)
    last = messages[-1]
    # The words of a recording may stand beside it, for whatever kind of dialogue goes on from it.
    return Message(
        role="user",
        text=last.text if Input.TEXT in kind.required else "",
        audio=last.audio if Input.CLIP in kind.required else None,
    )


def _request(
    options: TaskOptions, question: Message, messages: list[Message], read_clip: ReadClip
) -> TaskRequest:
    with blaming("--messages"):
        history = rounds_of(messages, read_clip)
    with blaming("--audio-path" if options.audio_path else "--messages"):
        clip = read_clip(question.audio) if question.audio else None
    with blaming("--voice-path"):
        voice = read_clip(options.voice_path) if options.voice_path else None
    return TaskRequest(
        task=options.query_type,
        variant=options.variant,
        text=question.text,
        instruct=options.instruct,
        voice=voice,
        clip=clip,
        question=options.question,
        system_prompt=options.system_prompt,
        history=history,
        phrase=options.phrase,
    )
