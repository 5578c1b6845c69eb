"""From a request to the prompt and the clips that stand in it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Formatter

from backend.contract.errors import Field, TurnRefused
from backend.contract.media import AudioClip
from backend.contract.tasks import EarlierTurn, TaskRequest
from backend.engines.omni.mimo import phrases
from backend.engines.omni.mimo.clips import MIN_S, carries, check_clip, groups_of
from backend.engines.omni.mimo.prompt import CountTokens, Prompt, PromptWriter
from backend.engines.omni.mimo.requests import check_request
from backend.engines.omni.mimo.specs import TaskSpec
from backend.engines.omni.mimo.tokens import (
    EOSP,
    EOSTM,
    EOT,
    GROUP_S,
    IM_END,
    IM_START,
    SOSP,
    SOSTM,
    clean,
    sentence_case,
)


@dataclass(frozen=True, slots=True, eq=False)
class FittedPrompt:
    """A prompt within the limit.

    Attributes:
        prompt: The prompt.
        tokens: Its length.
        left_out: How many of the oldest turns are not in it, for want of room.
    """

    prompt: Prompt
    tokens: int
    left_out: int


def prompt_for(
    spec: TaskSpec, request: TaskRequest, count: CountTokens, limit: int
) -> FittedPrompt:
    """The prompt of a request, without as many of the oldest turns as it takes to fit.

    Args:
        spec: The kind of work.
        request: What is asked; it is checked here.
        count: Counts the tokens of a text.
        limit: Most tokens of the prompt: the model's length without what the reply may take.

    Raises:
        TurnRefused: ``prompt_too_long`` where the newest turn alone does not fit, or whatever
            ``check_request`` refuses.
    """
    check_request(spec.kind, request)
    history = [turn for turn in request.history if _is_whole(spec, turn)]

    def prompt_with(kept: int) -> Prompt:
        return _compose(spec, request, history[len(history) - kept :], count)

    def length(kept: int) -> int:
        return prompt_with(kept).tokens(count)

    kept = bisect_right(range(len(history) + 1), limit, key=length) - 1
    if kept < 0:
        text = (
            f"This takes {length(0):,} tokens, and the model has room for {limit:,}. A second of"
            f" sound takes {1 / GROUP_S:g}: send a shorter text or recording."
        )
        raise TurnRefused("prompt_too_long", text, Field.TURN)
    prompt = prompt_with(kept)
    return FittedPrompt(prompt, prompt.tokens(count), len(history) - kept)


def _is_whole(spec: TaskSpec, turn: EarlierTurn) -> bool:
    """Whether the task can show the turn; one without words on either side teaches silence."""
    asked = clean(turn.text) or ("{clip}" in spec.user and turn.clip is not None)
    return bool(asked and clean(turn.answer))


def _compose(
    spec: TaskSpec, request: TaskRequest, history: Sequence[EarlierTurn], count: CountTokens
) -> Prompt:
    writer = PromptWriter()
    _write_system(writer, spec, request.voice)
    opening = request.system_prompt
    for turn in history:
        said = turn.clip or turn.text
        slots = {"system_prompt": opening, "clip": said, "text": turn.text}
        _write_user(writer, spec, slots)
        _write_answer(writer, spec, turn, count)
        opening = ""
    words = clean(request.text)
    slots = {
        "system_prompt": opening,
        "clip": request.clip or "",
        "text": sentence_case(words) if spec.kind.speaks else words,
        "instruct": request.instruct,
        "question": request.question,
        "read_aloud": phrases.read_aloud(words, request.phrase),
        "write_down": phrases.write_down(request.phrase),
    }
    _write_user(writer, spec, slots)
    writer.control(spec.ending)
    return writer.prompt()


def _write_system(writer: PromptWriter, spec: TaskSpec, voice: AudioClip | None) -> None:
    words = spec.system if voice is None else spec.voiced_system
    if not words:
        return
    writer.control(f"{IM_START}system\n{words}")
    if voice is not None:
        writer.sound(voice, before=SOSP, after=EOSP)
    writer.control(f"{IM_END}\n")


def _write_user(writer: PromptWriter, spec: TaskSpec, slots: Mapping[str, str | AudioClip]) -> None:
    writer.control(f"{IM_START}user\n")
    for literal, slot, _, _ in Formatter().parse(spec.user):
        writer.control(literal)
        value = slots[slot] if slot else ""
        if isinstance(value, AudioClip):
            writer.sound(value, before=SOSP, after=EOSP)
        else:
            writer.words(value)
        if slot == "system_prompt" and value:
            writer.control("\n\n")
    writer.control(f"{IM_END}\n")


def _write_answer(
    writer: PromptWriter, spec: TaskSpec, turn: EarlierTurn, count: CountTokens
) -> None:
    writer.control(f"{IM_START}assistant\n")
    if not spec.kind.speaks:
        writer.words(turn.answer)
    else:
        writer.control(SOSTM)
        writer.words(turn.answer)
        clip = turn.answer_clip
        if clip is not None and _is_woven(clip, count(clean(turn.answer))):
            writer.sound(clip, before=EOT, after=EOSTM)
        else:
            writer.control(EOT + EOSTM)
    writer.control(f"{IM_END}\n")


def _is_woven(clip: AudioClip, text_tokens: int) -> bool:
    """Whether the sound of an answer goes with its words; after an interruption it may not."""
    if len(clip.samples) < MIN_S * clip.sample_rate:
        return False
    check_clip(clip, "reply of an earlier turn", Field.TURN)
    return carries(groups_of(clip), text_tokens)
