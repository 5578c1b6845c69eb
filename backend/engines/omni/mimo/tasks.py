# ruff: noqa: RUF001 - Chinese punctuation
"""The ten kinds of work of MiMo-Audio, as one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from backend.contract.errors import Field, TurnRefused
from backend.engines.omni.mimo.specs import Ending, Input, Sampling, TaskSpec

_STYLED = "你需要根据指定的风格指令和文本内容来生成语音。"
_CLONED = "你需要根据指定的风格指令和文本内容来生成和语音prompt具有相同音色的语音。你的音色应该是："
_DIALOGUE_VOICE = "Your voice should be:"
_TRANSCRIBE_ALOUD = "Please transcribe this audio and repeat it once."

_TEXT, _VOICE, _CLIP = frozenset({Input.TEXT}), frozenset({Input.VOICE}), frozenset({Input.CLIP})
_QUESTION = _CLIP | {Input.QUESTION}
_HISTORY = frozenset({Input.HISTORY})

_transcribe = TaskSpec("audio_trancribing_sft", f"{{clip}}{_TRANSCRIBE_ALOUD}", _CLIP)
_transcribe_only = replace(
    _transcribe,
    user="{clip}{write_down}",
    ending=Ending.NOTHINK,
    speaks=False,
    sampling=Sampling(),
)
_understand = TaskSpec(
    "audio_understanding_sft",
    "{clip}{question}",
    _QUESTION,
    ending=Ending.NOTHINK,
    speaks=False,
    sampling=Sampling(temperature=0.3, top_p=0.95),
)
_speech_to_text = TaskSpec(
    "speech2text_dialogue_sft_multiturn",
    "{clip}",
    _CLIP,
    _HISTORY,
    ending=Ending.THINK,
    speaks=False,
    sampling=Sampling(temperature=0.6, top_p=0.95),
)
_text_dialogue = TaskSpec(
    "text_dialogue_sft_multiturn",
    "{text}",
    _TEXT,
    _HISTORY,
    ending=Ending.NOTHINK,
    speaks=False,
    sampling=Sampling(temperature=0.4, top_p=0.95),
)

TASKS: Mapping[str, TaskSpec] = {
    spec.name: spec
    for spec in (
        TaskSpec("tts_sft", "{read_aloud}: {text}", _TEXT),
        TaskSpec(
            "tts_sft_with_instruct",
            "{read_aloud}: {text}({instruct})",
            _TEXT | {Input.INSTRUCT},
            _VOICE,
            _STYLED,
            _CLONED,
            Ending.THINK,
        ),
        TaskSpec(
            "tts_sft_with_audio", "{read_aloud}: {text}", _TEXT | _VOICE, voiced_system=_CLONED
        ),
        TaskSpec(
            "tts_sft_with_natural_instruction",
            "{text}",
            _TEXT,
            _VOICE,
            _STYLED,
            _CLONED,
            Ending.THINK,
        ),
        replace(_transcribe, variants={"clean": _transcribe_only}),
        _understand,
        replace(_understand, name="audio_understanding_sft_with_thinking", ending=Ending.THINK),
        TaskSpec(
            "spoken_dialogue_sft_multiturn",
            "{system_prompt}{clip}",
            _CLIP,
            _VOICE | _HISTORY | {Input.SYSTEM_PROMPT},
            voiced_system=_DIALOGUE_VOICE,
        ),
        replace(
            _speech_to_text,
            variants={"no_thinking": replace(_speech_to_text, ending=Ending.NOTHINK)},
        ),
        replace(
            _text_dialogue, variants={"thinking": replace(_text_dialogue, ending=Ending.THINK)}
        ),
    )
}
"""By name, in upstream's order."""


def task(name: str, variant: str = "") -> TaskSpec:
    """The kind of work of that name.

    Args:
        name: One of the ten, as upstream spells them.
        variant: Another way to do it (``TaskSpec.variants``), or empty for upstream's own.

    Raises:
        TurnRefused: ``unknown_task``, whose message lists the ten, or ``unknown_variant``.
    """
    if name not in TASKS:
        text = f"There is no task {name}. Choose from: {', '.join(TASKS)}."
        raise TurnRefused("unknown_task", text, Field.SETTINGS)
    spec = TASKS[name]
    if variant and variant not in spec.variants:
        ways = ", ".join(spec.variants) or "none; leave it empty"
        text = f"{name} has no variant {variant}. Choose from: {ways}."
        raise TurnRefused("unknown_variant", text, Field.SETTINGS)
    return spec.variants[variant] if variant else spec
