# ruff: noqa: RUF001 - Chinese punctuation
"""How the ten kinds of work are put to MiMo-Audio, as one table."""

from __future__ import annotations

from backend.contract.tasks import task_kind
from backend.engines.omni.mimo.specs import SPOKEN, Ending, Sampling, TaskSpec

_STYLED = "你需要根据指定的风格指令和文本内容来生成语音。"
_CLONED = "你需要根据指定的风格指令和文本内容来生成和语音prompt具有相同音色的语音。你的音色应该是："
_DIALOGUE_VOICE = "Your voice should be:"
_TRANSCRIBE_ALOUD = "Please transcribe this audio and repeat it once."

_UNDERSTANDS = Sampling(temperature=0.3, top_p=0.95)
_WRITES = Sampling(temperature=0.4, top_p=0.95)
_HEARS_AND_WRITES = Sampling(temperature=0.6, top_p=0.95)

_Row = tuple[tuple[str, str], TaskSpec]


def _row(
    name: str,
    variant: str,
    user: str,
    ending: Ending = Ending.SPEAK,
    sampling: Sampling = SPOKEN,
    system: str = "",
    voiced_system: str = "",
) -> _Row:
    kind = task_kind(name, variant)
    return (name, variant), TaskSpec(kind, user, ending, sampling, system, voiced_system)


THINK, NOTHINK = Ending.THINK, Ending.NOTHINK

SPECS = dict(
    [
        _row("tts_sft", "", "{read_aloud}: {text}"),
        _row(
            "tts_sft_with_instruct",
            "",
            "{read_aloud}: {text}({instruct})",
            THINK,
            system=_STYLED,
            voiced_system=_CLONED,
        ),
        _row("tts_sft_with_audio", "", "{read_aloud}: {text}", voiced_system=_CLONED),
        _row(
            "tts_sft_with_natural_instruction",
            "",
            "{text}",
            THINK,
            system=_STYLED,
            voiced_system=_CLONED,
        ),
        _row("audio_trancribing_sft", "", f"{{clip}}{_TRANSCRIBE_ALOUD}"),
        _row("audio_trancribing_sft", "clean", "{clip}{write_down}", NOTHINK, Sampling()),
        _row("audio_understanding_sft", "", "{clip}{question}", NOTHINK, _UNDERSTANDS),
        _row("audio_understanding_sft_with_thinking", "", "{clip}{question}", THINK, _UNDERSTANDS),
        _row(
            "spoken_dialogue_sft_multiturn",
            "",
            "{system_prompt}{clip}",
            voiced_system=_DIALOGUE_VOICE,
        ),
        _row("speech2text_dialogue_sft_multiturn", "", "{clip}", THINK, _HEARS_AND_WRITES),
        _row(
            "speech2text_dialogue_sft_multiturn",
            "no_thinking",
            "{clip}",
            NOTHINK,
            _HEARS_AND_WRITES,
        ),
        _row("text_dialogue_sft_multiturn", "", "{text}", NOTHINK, _WRITES),
        _row("text_dialogue_sft_multiturn", "thinking", "{text}", THINK, _WRITES),
    ]
)
"""By name and variant."""


def task(name: str, variant: str = "") -> TaskSpec:
    """How the kind of work of that name is put to the model.

    Args:
        name: One of ``contract.tasks.TASKS``.
        variant: Another way to do it, or empty for its own.

    Raises:
        TurnRefused: ``unknown_task`` or ``unknown_variant``.
    """
    task_kind(name, variant)
    return SPECS[name, variant]
