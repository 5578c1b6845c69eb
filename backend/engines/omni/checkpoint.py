"""What a Qwen3-TTS checkpoint can do, read from its own configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from backend.contract.voice import VoiceControls, VoiceMode
from backend.conversation.languages import language_code

STYLE_CHARS = 500
"""Longest instruction that vLLM-Omni's pipeline takes (``tts_args.max_instructions_length``)."""

HEARD_LANGUAGES = (
    "ar", "cs", "da", "de", "el", "en", "es", "fa", "fi", "fil", "fr", "hi", "hu", "id", "it",
    "ja", "ko", "mk", "ms", "nl", "pl", "pt", "ro", "ru", "sv", "th", "tr", "vi", "yue", "zh",
)  # fmt: skip
"""ISO 639 codes of the languages that Qwen3-ASR was trained on, from its model card."""

PIPELINE_SPEAKER = "vivian"
"""Who speaks in vLLM-Omni's pipeline when no speaker is named."""

_KINDS = {"base": "Base", "custom_voice": "CustomVoice", "voice_design": "VoiceDesign"}
_MODES = {
    "Base": VoiceMode.CLONE,
    "CustomVoice": VoiceMode.NAMED,
    "VoiceDesign": VoiceMode.DESIGN,
}
_UNSTYLED_SIZE = "0b6"

REFERENCE_S = (1.0, 30.0)
"""Shortest and longest reference audio, as vLLM-Omni's own voices endpoint has them."""


@dataclass(frozen=True, slots=True)
class TtsCheckpoint:
    """The voices of one checkpoint.

    Attributes:
        folder: Local directory, for its tokenizer.
        kind: ``Base`` clones voices, ``CustomVoice`` has speakers of its own, ``VoiceDesign``
            makes voices up from descriptions.
        speakers: Their names as the pipeline writes them; the first is the default.
        languages: ISO 639-1 codes that it can be told to speak.
        styled: Whether it follows a style in words.
    """

    folder: str
    kind: str
    speakers: tuple[str, ...]
    languages: tuple[str, ...]
    styled: bool

    def controls(self) -> VoiceControls:
        """What a person may choose with this checkpoint."""
        mode = _MODES[self.kind]
        return VoiceControls(
            modes=(mode,),
            speakers=self.speakers if mode is VoiceMode.NAMED else (),
            languages=("auto", *self.languages),
            style_chars=STYLE_CHARS if self.styled else 0,
            reference_s=REFERENCE_S if mode is VoiceMode.CLONE else (0.0, 0.0),
            takes_token_ids=True,
            takes_sampling=True,
        )


def read_checkpoint(folder: str, config: Any) -> TtsCheckpoint:
    """Read what a loaded checkpoint's configuration says of its voices.

    Args:
        folder: Where its tokenizer is: a local directory, or a hub name that is in the cache.
        config: Its ``Qwen3TTSConfig``.

    Raises:
        ValueError: It is not of a kind that the pipeline speaks with.
    """
    kind = str(config.tts_model_type).lower()
    if kind not in _KINDS:
        raise ValueError(f"{folder} is a Qwen3-TTS checkpoint of kind {kind}: use {set(_KINDS)}.")
    talker = config.talker_config
    codes = (language_code(name) for name in talker.codec_language_id or {})
    names = sorted(talker.spk_id or {}, key=lambda name: name.lower() != PIPELINE_SPEAKER)
    return TtsCheckpoint(
        folder=folder,
        kind=_KINDS[kind],
        speakers=tuple(speaker_name(name) for name in names),
        languages=tuple(dict.fromkeys(code for code in codes if code)),
        # The small CustomVoice was not trained on instructions, nor was any that copies voices.
        styled=kind != "base" and config.tts_model_size != _UNSTYLED_SIZE,
    )


def speaker_name(name: str) -> str:
    """A speaker's name as the pipeline normalises it: ``vivian`` → ``Vivian``.

    Names with an underscore keep their writing, for example ``Uncle_Fu``.
    """
    name = name.strip()
    return name if "_" in name else name[:1].upper() + name[1:].lower()
