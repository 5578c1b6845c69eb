"""A turn as the server's session takes it: instructions, a voice, pictures."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from backend.contract.media import VideoFrames
from backend.contract.turn import Turn
from backend.contract.voice import VoiceSpec
from backend.conversation.plain_text import plain
from backend.engines.omni.checkpoint import speaker_name
from backend.engines.omni.prompts import fitting_history, system_with_history

MAX_PICTURES = 2
"""Pictures that the server takes with one message, and keeps for one question."""

MAX_SIDE = 1280
"""Pixels on the long side of a picture: far from the 4 MB that the server lets it have."""

HISTORY_TOKENS = 4000
"""What earlier exchanges may take of the context, whose length the server does not tell."""

NOTHING_SHOWN = "The person shows nothing now: the grey picture stands for no picture."

_BYTES_A_TOKEN = 3
_GREY = np.full((64, 64, 3), 128, np.uint8)
_QUALITY = 85


def instructions_for(turn: Turn, words: str) -> str:
    """The system prompt with the conversation so far and what was typed.

    The wire takes no typed words (its ``input.text.append`` is refused for AURA), so they stand
    as the person's latest turn in front of the one with the pictures and the sound.

    Args:
        turn: The turn.
        words: What was typed, or recognised before; may be empty.
    """
    prompt = turn.settings.system_prompt.strip()
    if turn.frames is None:
        prompt = f"{prompt} {NOTHING_SHOWN}".lstrip()
    history = fitting_history(turn.history, _tokens_of, HISTORY_TOKENS)
    asked = f"<|im_end|>\n<|im_start|>user\n{plain(words)}" if words else ""
    return system_with_history(prompt, history) + asked


def voice_for(voice: VoiceSpec, speakers: tuple[str, ...]) -> dict[str, str]:
    """The pipeline's ``tts_*`` fields; a speaker only where there are names to choose from."""
    # Without a language the server would speak everything as Chinese.
    fields = {"tts_language": "Auto"}
    if voice.style.strip():
        fields["tts_instruct"] = plain(voice.style.strip())
    if speakers:
        fields["tts_speaker"] = speaker_name(voice.speaker) if voice.speaker else speakers[0]
    return fields


def pictures_of(frames: VideoFrames | None) -> list[bytes]:
    """One or two JPEG files: the middle and the last frame, or a grey one where there is none."""
    if frames is None:
        return [_jpeg(_GREY)]
    last = len(frames.images) - 1
    return [_jpeg(frames.images[at]) for at in dict.fromkeys((last // 2, last))]


def _jpeg(image: np.ndarray) -> bytes:
    picture = Image.fromarray(image)
    picture.thumbnail((MAX_SIDE, MAX_SIDE))
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=_QUALITY)
    return file.getvalue()


def _tokens_of(text: str) -> int:
    """Rounded up for every script: an ideogram has three bytes, English words four a token."""
    return len(text.encode()) // _BYTES_A_TOKEN + 1
