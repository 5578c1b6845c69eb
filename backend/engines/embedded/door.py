"""The engine's own door: a turn that a stage could choke on goes no further."""

from __future__ import annotations

import math

import numpy as np

from backend.contract.engine import Capabilities
from backend.contract.errors import Field, TurnRefused
from backend.contract.turn import AudioClip, Turn, TurnSettings, VideoFrames

MIN_SPEED, MAX_SPEED = 0.5, 2.0
"""Bounds of ``voice_speed``; beyond them Piper slurs."""

MAX_REPLY_SHARE = 0.5
"""Largest share of the context that a reply may ask for."""


def check_turn(turn: Turn, capabilities: Capabilities, context: int) -> None:
    """Refuse a turn that cannot be worked on.

    Args:
        turn: The turn.
        capabilities: What the engine can do.
        context: Tokens that prompt and reply may have together.

    Raises:
        TurnRefused: ``empty_turn``, ``audio_empty``, ``audio_not_finite``, ``audio_format``,
            ``frames_format``, ``voice_speed``, ``reply_tokens``, ``unknown_voice`` or
            ``unknown_language``.
    """
    if turn.audio is None and turn.frames is None and not turn.text.strip():
        raise TurnRefused("empty_turn", "Say, type or show something first.")
    if turn.audio is not None:
        _check_audio(turn.audio)
    if turn.frames is not None:
        _check_frames(turn.frames)
    _check_settings(turn.settings, capabilities, context)


def _check_audio(clip: AudioClip) -> None:
    if clip.samples.size == 0:
        raise TurnRefused("audio_empty", "This recording is empty.", Field.AUDIO)
    if clip.samples.ndim != 1 or clip.samples.dtype != np.float32 or clip.sample_rate <= 0:
        text = "This recording is not mono float sound at a known rate."
        raise TurnRefused("audio_format", text, Field.AUDIO)
    if not np.isfinite(clip.samples).all():
        text = "This recording is damaged: some of its samples are not numbers."
        raise TurnRefused("audio_not_finite", text, Field.AUDIO)


def _check_frames(frames: VideoFrames) -> None:
    shape = frames.images.shape
    if len(shape) != 4 or shape[3] != 3 or 0 in shape or frames.images.dtype != np.uint8:
        text = "These pictures are not RGB pictures."
        raise TurnRefused("frames_format", text, Field.VIDEO)


def _check_settings(settings: TurnSettings, capabilities: Capabilities, context: int) -> None:
    speed, longest = settings.voice_speed, int(context * MAX_REPLY_SHARE)
    if not math.isfinite(speed) or not MIN_SPEED <= speed <= MAX_SPEED:
        text = f"The voice speed must lie between {MIN_SPEED} and {MAX_SPEED}."
        raise TurnRefused("voice_speed", text, Field.SETTINGS)
    if not 1 <= settings.max_reply_tokens <= longest:
        text = f"The longest reply must lie between 1 and {longest} tokens."
        raise TurnRefused("reply_tokens", text, Field.SETTINGS)
    if settings.voice and settings.voice not in capabilities.voices:
        text = f"There is no such voice here. Choose from: {', '.join(capabilities.voices)}."
        raise TurnRefused("unknown_voice", text, Field.SETTINGS)
    if settings.language != "auto" and settings.language not in capabilities.languages:
        text = f"The recogniser knows only: {', '.join(capabilities.languages)}."
        raise TurnRefused("unknown_language", text, Field.SETTINGS)
