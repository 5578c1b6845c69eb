"""The messages of the duplex wire: those that a turn sends, and reading those that come."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import soxr

from backend.contract.media import AudioClip, Samples
from backend.conversation.pcm import to_pcm16
from backend.engines.failures import StageFailed

Message = dict[str, Any]

SAMPLE_RATE = 16_000
"""Rate at which the server's recogniser hears, in hertz."""

SPEECH_RATE = 24_000
"""Rate of the server's speech where it does not name one: that of Qwen3-TTS."""

COMMIT: Message = {"type": "input_audio_buffer.commit"}
CANCEL: Message = {"type": "response.cancel"}
CLOSE: Message = {"type": "session.close"}


class Garbled(StageFailed):
    """The server sent something that is not of this wire."""

    def __init__(self) -> None:
        """The words are the same for all of it; what it was belongs in the log."""
        super().__init__("The server sent something that this app does not understand.")


def session_update(instructions: str, voice: Mapping[str, str], max_tokens: int) -> Message:
    """The first message, which opens the session.

    Args:
        instructions: The system prompt.
        voice: ``tts_*`` fields of the AURA pipeline.
        max_tokens: Longest reply; the AURA pipeline of vLLM-Omni 0.30 does not look at it.
    """
    return {
        "type": "session.update",
        "session": {
            "instructions": instructions,
            "modalities": ["text", "audio"],
            "input_audio_format": "pcm16",
            "output_audio_format": "pcm16",
            "turn_detection": None,
            "max_response_output_tokens": max_tokens,
            # Has a commit answered without a `response.create` of its own.
            "extra_body": {"auto_response": True, **voice},
        },
    }


def append(pictures: Sequence[bytes], clip: AudioClip | None) -> Message:
    """All that was said and shown, in one message.

    Args:
        pictures: One or two JPEG files: AURA takes no sound without a picture.
        clip: What was said; without it, no speech is looked for.
    """
    frames = [base64.b64encode(jpeg).decode() for jpeg in pictures]
    message: Message = {"type": "input_audio_buffer.append", "video_frames": frames}
    if clip is None:
        return message
    samples = clip.samples
    if clip.sample_rate != SAMPLE_RATE:
        samples = soxr.resample(samples, clip.sample_rate, SAMPLE_RATE)
    audio = base64.b64encode(to_pcm16(samples)).decode()
    # Said outright: by itself the server takes a low voice for a quiet room.
    return {**message, "audio": audio, "sample_rate_hz": SAMPLE_RATE, "is_speech": True}


def read(text: str | bytes) -> Message:
    """One message of the server.

    Raises:
        Garbled: It is not a JSON object with a type.
    """
    try:
        message = json.loads(text)
    except ValueError as error:
        raise Garbled from error
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise Garbled
    return message


def text_of(message: Message, field: str) -> str:
    """A field that holds text.

    Raises:
        Garbled: It does not.
    """
    value = message.get(field)
    if not isinstance(value, str):
        raise Garbled
    return value


def sound_of(message: Message) -> tuple[Samples, int]:
    """The samples of a piece of speech, and their rate.

    Raises:
        Garbled: It holds no PCM16.
    """
    rate = message.get("sample_rate_hz", SPEECH_RATE)
    if message.get("format", "pcm16") != "pcm16" or not isinstance(rate, int) or rate <= 0:
        raise Garbled
    try:
        samples = np.frombuffer(base64.b64decode(text_of(message, "delta"), validate=True), "<i2")
    except ValueError as error:  # no base64, or half a sample
        raise Garbled from error
    return samples.astype(np.float32) / np.float32(32768), rate


def measured_of(message: Message) -> dict[str, Any]:
    """What the server has measured of its stages so far, by stage number; often empty."""
    response = message.get("response")
    metadata = message.get("metadata")
    if isinstance(response, dict) and not isinstance(metadata, dict):
        metadata = response.get("metadata")
    own = metadata.get("vllm_omni") if isinstance(metadata, dict) else None
    measured = own.get("stage_metrics") if isinstance(own, dict) else None
    return measured if isinstance(measured, dict) else {}
