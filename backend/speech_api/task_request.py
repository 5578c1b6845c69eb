"""What a client asks for as a task, as it comes in."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from backend.contract.tasks import MAX_REPLY_TOKENS, PHRASES, TASKS
from backend.settings import Settings
from backend.speech_api.errors import ApiError
from backend.tasks.parts import SPEAKS_TEXT

MAX_TURNS = 100
"""Earlier rounds that a dialogue may be given."""

_DESCRIBED_CHARS = 1000  # of a text that cannot be cut, because its description counts for all

Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
Id = Annotated[Text, Field(max_length=64)]


class TaskTurn(BaseModel):
    """An earlier round of a dialogue; see ``EarlierTurn``. Clips are ids of the shelf."""

    model_config = ConfigDict(extra="forbid")

    text: Text = ""
    clip: Id = ""
    answer: Text = ""
    answer_clip: Id = ""


class TaskBody(BaseModel):
    """The body of ``POST /v1/tasks``; see ``TaskRequest``.

    Attributes:
        voice: Name or id of a kept voice, whose recording is spoken after.
        voice_clip: Id of a clip to speak after instead.
        max_tokens: Longest reply in tokens; of each part, where long work is done in parts.
    """

    model_config = ConfigDict(extra="forbid")

    task: str
    variant: Text = ""
    text: Text = ""
    instruct: Annotated[Text, Field(max_length=1000)] = ""
    voice: Id = ""
    voice_clip: Id = ""
    clip: Id = ""
    question: Annotated[Text, Field(max_length=2000)] = ""
    system_prompt: Annotated[Text, Field(max_length=4000)] = ""
    history: Annotated[list[TaskTurn], Field(max_length=MAX_TURNS)] = []
    phrase: Annotated[int, Field(ge=0, lt=PHRASES)] = 0
    max_tokens: Annotated[int, Field(ge=1, le=MAX_REPLY_TOKENS)] = MAX_REPLY_TOKENS


def check_lengths(asked: TaskBody, settings: Settings) -> None:
    """Refuse more words than a model can take in.

    Raises:
        ApiError: ``text_too_long`` or ``history_too_long``.
    """
    limit = _longest_text(asked.task, settings)
    if len(asked.text) > limit:
        text = f"The text has {len(asked.text):,} characters; the limit is {limit:,}."
        raise ApiError(400, text, "text_too_long", "text")
    total = sum(len(turn.text) + len(turn.answer) for turn in asked.history)
    limit = history_chars(settings)
    if total > limit:
        text = f"The earlier turns have {total:,} characters; the limit is {limit:,}."
        raise ApiError(400, text, "history_too_long", "history")


def history_chars(settings: Settings) -> int:
    """Most characters of all earlier turns."""
    return 8 * settings.max_text_chars


def _longest_text(task: str, settings: Settings) -> int:
    if task in SPEAKS_TEXT:
        return settings.max_script_chars
    speaks = task in TASKS and TASKS[task].speaks
    return _DESCRIBED_CHARS if speaks else settings.max_text_chars
