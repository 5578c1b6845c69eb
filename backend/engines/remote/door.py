"""The engine's own door: what the server could not take, or would not tell of, stays here."""

from __future__ import annotations

from backend.contract.engine import Capabilities
from backend.contract.errors import Field, TurnRefused
from backend.contract.turn import Turn
from backend.engines.omni.door import check_turn as check_any_turn

MAX_AUDIO_S = 75.0
"""Longest recording: the server's recogniser writes 256 tokens, and says nothing of the rest."""

MIN_SPEED, MAX_SPEED = 0.25, 4.0
"""Bounds of ``voice_speed``, those of OpenAI's API."""


def check_turn(turn: Turn, capabilities: Capabilities) -> None:
    """Refuse a turn that the server cannot work on.

    Raises:
        TurnRefused: ``unknown_language``, ``audio_too_long``, ``voice_speed``, or a code of the
            omni engine's ``check_turn``.
    """
    settings = turn.settings
    if not turn.script and settings.language not in capabilities.languages:
        text = "The server finds out by itself which language is spoken. Choose automatic."
        raise TurnRefused("unknown_language", text, Field.SETTINGS)
    check_any_turn(turn, capabilities)
    if turn.audio is not None and turn.audio.duration_s > MAX_AUDIO_S:
        text = f"The recording has {turn.audio.duration_s:.0f} s; the server hears"
        raise TurnRefused("audio_too_long", f"{text} {MAX_AUDIO_S:.0f} s.", Field.AUDIO)
    if capabilities.voice.changes_speed and not MIN_SPEED <= settings.voice_speed <= MAX_SPEED:
        text = f"The voice speed must lie between {MIN_SPEED} and {MAX_SPEED}."
        raise TurnRefused("voice_speed", text, Field.SETTINGS)
