"""What a person asks of MiMo-Audio, and what of it is refused."""

from __future__ import annotations

from dataclasses import dataclass

from backend.contract.errors import Field, TurnRefused
from backend.contract.media import AudioClip
from backend.engines.omni.mimo import phrases
from backend.engines.omni.mimo.clips import check_clip
from backend.engines.omni.mimo.specs import Input, TaskSpec
from backend.engines.omni.mimo.tokens import clean


@dataclass(frozen=True, slots=True, eq=False)
class EarlierTurn:
    """One earlier round of a dialogue.

    With text and sound of both sides, it can go on as any of the three kinds of dialogue.

    Attributes:
        text: What the person typed, or the words of ``clip`` where they are known.
        clip: What the person said, at 24 kHz, or none.
        answer: The assistant's answer alone, without its reasoning.
        answer_clip: What was heard of it, at 24 kHz; none or cut short where it was interrupted.
    """

    text: str = ""
    clip: AudioClip | None = None
    answer: str = ""
    answer_clip: AudioClip | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TaskRequest:
    """The inputs of one request; a task takes some of them (``TaskSpec``).

    Attributes:
        text: What is to be spoken, or the message of a text dialogue. For
            ``tts_sft_with_natural_instruction``, with the description of the voice in it.
        instruct: How to speak, in words.
        voice: Clip of the voice to speak in, at 24 kHz.
        clip: What is to be heard, at 24 kHz.
        question: What to say about it.
        system_prompt: Instructions to the assistant.
        history: Earlier rounds, oldest first.
        phrase: Number of the wording that introduces the text or clip, 0 to
            ``phrases.COUNT`` - 1.
    """

    text: str = ""
    instruct: str = ""
    voice: AudioClip | None = None
    clip: AudioClip | None = None
    question: str = ""
    system_prompt: str = ""
    history: tuple[EarlierTurn, ...] = ()
    phrase: int = 0

    def given(self) -> frozenset[Input]:
        """The inputs that it has; words that are control tokens alone are none."""
        values = {part: getattr(self, part) for part in Input}
        return frozenset(
            part
            for part, value in values.items()
            if (clean(value) if isinstance(value, str) else value)
        )


_FIELDS = {
    Input.TEXT: Field.TEXT,
    Input.INSTRUCT: Field.TEXT,
    Input.VOICE: Field.VOICE,
    Input.CLIP: Field.AUDIO,
    Input.QUESTION: Field.TEXT,
    Input.SYSTEM_PROMPT: Field.SETTINGS,
    Input.HISTORY: Field.TURN,
}
_NAMES = {
    Input.TEXT: "a text",
    Input.INSTRUCT: "an instruction how to speak",
    Input.VOICE: "a clip of a voice",
    Input.CLIP: "a recording",
    Input.QUESTION: "a question",
    Input.SYSTEM_PROMPT: "a system prompt",
    Input.HISTORY: "earlier turns",
}


def check_request(spec: TaskSpec, request: TaskRequest) -> None:
    """Refuse a request that ``spec`` cannot work on.

    Raises:
        TurnRefused: ``input_missing``, ``input_unused``, ``nothing_to_say``, ``unknown_phrase``,
            or one of ``check_clip`` for any clip, those of earlier turns included.
    """
    given = request.given()
    for part in Input:
        if part in spec.required and part not in given:
            raise TurnRefused("input_missing", f"This task needs {_NAMES[part]}.", _FIELDS[part])
        if part in given and part not in spec.required | spec.optional:
            text = f"This task does not take {_NAMES[part]}. Remove it, or choose another task."
            raise TurnRefused("input_unused", text, _FIELDS[part])
    words = clean(request.text)
    if spec.speaks and words and not any(character.isalnum() for character in words):
        raise TurnRefused("nothing_to_say", "There are no words to speak in this text.", Field.TEXT)
    if not 0 <= request.phrase < phrases.COUNT:
        text = f"The phrase must have a number from 0 to {phrases.COUNT - 1}."
        raise TurnRefused("unknown_phrase", text, Field.SETTINGS)
    if request.voice is not None:
        check_clip(request.voice, "clip of a voice", Field.VOICE)
    if request.clip is not None:
        check_clip(request.clip)
    for turn in request.history:
        if turn.clip is not None:
            check_clip(turn.clip, "recording of an earlier turn", Field.TURN)
