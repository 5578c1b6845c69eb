"""The pipeline's ``tts_*`` fields for one turn's voice."""

from __future__ import annotations

import base64
import io
import math
from typing import Any

from backend.contract.media import AudioClip
from backend.contract.voice import VoiceSpec
from backend.conversation.languages import language_name
from backend.conversation.plain_text import plain
from backend.engines.omni.checkpoint import TtsCheckpoint, speaker_name
from backend.engines.omni.sampling import FRAMES_A_SECOND

_NO_WORDS = "-"
"""The bridge asks for reference text also where the talker does not read it."""


def voice_fields(voice: VoiceSpec, checkpoint: TtsCheckpoint) -> dict[str, Any]:
    """``additional_information`` of a request that speaks with ``voice``, already checked."""
    fields: dict[str, Any] = {
        "tts_task_type": [checkpoint.kind],
        "tts_language": [spoken_language(voice.language)],
        "tts_tokenizer": [checkpoint.folder],
        "tts_pass_token_ids": [voice.pass_token_ids],
    }
    if voice.style.strip():
        fields["tts_instruct"] = [plain(voice.style.strip())]
    if checkpoint.kind == "VoiceDesign":
        return fields
    if checkpoint.kind == "CustomVoice":
        speaker = speaker_name(voice.speaker) if voice.speaker.strip() else checkpoint.speakers[0]
        return fields | {"tts_speaker": [speaker]}
    clip = voice.reference_audio
    if clip is None:
        raise ValueError("A cloned voice needs reference audio.")
    fields |= {
        "tts_ref_audio": [as_data_uri(clip)],
        "tts_ref_text": [plain(voice.reference_text.strip()) or _NO_WORDS],
        "tts_x_vector_only_mode": [voice.x_vector_only],
    }
    if not voice.x_vector_only:
        frames = math.ceil(clip.duration_s * FRAMES_A_SECOND)
        fields["tts_ref_code_length"] = [frames]
    return fields


def spoken_language(code: str) -> str:
    """The pipeline's name of a language: ``en`` → ``English``, ``auto`` → ``Auto``."""
    return "Auto" if code == "auto" else language_name(code)


def as_data_uri(clip: AudioClip) -> str:
    """A clip as the float WAV in a data address that the talker decodes without loss."""
    import soundfile

    wav = io.BytesIO()
    soundfile.write(wav, clip.samples, clip.sample_rate, format="WAV", subtype="FLOAT")
    return f"data:audio/wav;base64,{base64.b64encode(wav.getvalue()).decode()}"
