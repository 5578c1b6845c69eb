"""Single pieces of work beside the conversation: what kinds there are, and what one asks for.

The ten kinds and their names are MiMo-Audio's. Another engine may offer some of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from backend.contract.errors import Field, TurnRefused
from backend.contract.media import AudioClip


class Input(StrEnum):
    """What a request can hold; the values are its fields."""

    TEXT = "text"
    INSTRUCT = "instruct"
    VOICE = "voice"
    CLIP = "clip"
    QUESTION = "question"
    SYSTEM_PROMPT = "system_prompt"
    HISTORY = "history"


@dataclass(frozen=True, slots=True)
class TaskKind:
    """One kind of work, or one way to do it.

    Attributes:
        name: As MiMo-Audio's authors spell it.
        required: Inputs without which there is nothing to do.
        optional: Further inputs that it takes.
        speaks: Whether the reply is spoken too.
        reasons: Whether the reply begins with the model's reasoning.
        variants: Other ways to do it, by name.
    """

    name: str
    required: frozenset[Input]
    optional: frozenset[Input] = frozenset()
    speaks: bool = True
    reasons: bool = False
    variants: Mapping[str, TaskKind] = field(default_factory=dict)


_TEXT, _VOICE, _CLIP = frozenset({Input.TEXT}), frozenset({Input.VOICE}), frozenset({Input.CLIP})
_HISTORY = frozenset({Input.HISTORY})

_transcribe = TaskKind("audio_trancribing_sft", _CLIP)
_understand = TaskKind("audio_understanding_sft", _CLIP | {Input.QUESTION}, speaks=False)
_spoken = TaskKind(
    "spoken_dialogue_sft_multiturn", _CLIP, _VOICE | _HISTORY | {Input.SYSTEM_PROMPT}
)
_speech_to_text = TaskKind(
    "speech2text_dialogue_sft_multiturn", _CLIP, _HISTORY, speaks=False, reasons=True
)
_text_dialogue = TaskKind("text_dialogue_sft_multiturn", _TEXT, _HISTORY, speaks=False)

TASKS: Mapping[str, TaskKind] = {
    kind.name: kind
    for kind in (
        TaskKind("tts_sft", _TEXT),
        TaskKind("tts_sft_with_instruct", _TEXT | {Input.INSTRUCT}, _VOICE, reasons=True),
        TaskKind("tts_sft_with_audio", _TEXT | _VOICE),
        TaskKind("tts_sft_with_natural_instruction", _TEXT, _VOICE, reasons=True),
        replace(_transcribe, variants={"clean": replace(_transcribe, speaks=False)}),
        _understand,
        replace(_understand, name="audio_understanding_sft_with_thinking", reasons=True),
        _spoken,
        replace(_speech_to_text, variants={"no_thinking": replace(_speech_to_text, reasons=False)}),
        replace(_text_dialogue, variants={"thinking": replace(_text_dialogue, reasons=True)}),
    )
}
"""By name, in the order of MiMo-Audio's authors."""


MAX_REPLY_TOKENS = 2048
"""Longest reply of a task, in the model's tokens: five minutes of sound."""

PHRASES = 8
"""How many wordings a task is introduced with at most."""


@dataclass(frozen=True, slots=True, eq=False)
class EarlierTurn:
    """One earlier round of a dialogue.

    With text and sound of both sides, it can go on as any of the three kinds of dialogue.

    Attributes:
        text: What the person typed, or the words of ``clip`` where they are known.
        clip: What the person said, or none.
        answer: The assistant's answer alone, without its reasoning.
        answer_clip: What was heard of it; none or cut short where it was interrupted.
    """

    text: str = ""
    clip: AudioClip | None = None
    answer: str = ""
    answer_clip: AudioClip | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TaskRequest:
    """The inputs of one piece of work; a kind takes some of them (``TaskKind``).

    Clips may have any rate; engines resample.

    Attributes:
        task: Name of the kind.
        variant: Another way to do it, or empty for the kind's own.
        text: What is to be spoken, or the message of a text dialogue. For
            ``tts_sft_with_natural_instruction``, with the description of the voice in it.
        instruct: How to speak, in words.
        voice: Clip of the voice to speak in.
        clip: What is to be heard.
        question: What to say about it.
        system_prompt: Instructions to the assistant.
        history: Earlier rounds, oldest first.
        phrase: Number of the wording that introduces the text or clip, 0 to ``PHRASES`` - 1,
            where there are several.
    """

    task: str
    variant: str = ""
    text: str = ""
    instruct: str = ""
    voice: AudioClip | None = None
    clip: AudioClip | None = None
    question: str = ""
    system_prompt: str = ""
    history: tuple[EarlierTurn, ...] = ()
    phrase: int = 0


def task_kind(name: str, variant: str = "") -> TaskKind:
    """The kind of work of that name, done in that way.

    Raises:
        TurnRefused: ``unknown_task``, whose message lists the ten, or ``unknown_variant``.
    """
    if name not in TASKS:
        text = f"There is no task {name[:64]}. Choose from: {', '.join(TASKS)}."
        raise TurnRefused("unknown_task", text, Field.SETTINGS)
    kind = TASKS[name]
    if variant and variant not in kind.variants:
        ways = ", ".join(kind.variants) or "none; leave it empty"
        text = f"{name} has no variant {variant[:64]}. Choose from: {ways}."
        raise TurnRefused("unknown_variant", text, Field.SETTINGS)
    return kind.variants[variant] if variant else kind


_NAMES = {
    Input.TEXT: ("a text", Field.TEXT),
    Input.INSTRUCT: ("an instruction how to speak", Field.TEXT),
    Input.VOICE: ("a clip of a voice", Field.VOICE),
    Input.CLIP: ("a recording", Field.AUDIO),
    Input.QUESTION: ("a question", Field.TEXT),
    Input.SYSTEM_PROMPT: ("a system prompt", Field.SETTINGS),
    Input.HISTORY: ("earlier turns", Field.TURN),
}


def misfit(kind: TaskKind, request: TaskRequest) -> Input | None:
    """The first input that a request lacks for its kind, or that its kind does not take."""
    for part in Input:
        given = _is_given(getattr(request, part))
        if part in kind.required and not given:
            return part
        if given and part not in kind.required | kind.optional:
            return part
    return None


def check_inputs(kind: TaskKind, request: TaskRequest) -> None:
    """Refuse a request that lacks what its kind needs, or holds what it does not take.

    Raises:
        TurnRefused: ``input_missing``, ``input_unused`` or ``nothing_to_say``.
    """
    if part := misfit(kind, request):
        name, place = _NAMES[part]
        if part in kind.required:
            raise TurnRefused("input_missing", f"This task needs {name}.", place)
        text = f"This task does not take {name}. Remove it, or choose another task."
        raise TurnRefused("input_unused", text, place)
    if kind.speaks and request.text and not any(sign.isalnum() for sign in request.text):
        raise TurnRefused("nothing_to_say", "There are no words to speak in this text.", Field.TEXT)


def _is_given(value: object) -> bool:
    return bool(value.strip() if isinstance(value, str) else value)
