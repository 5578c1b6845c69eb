"""A question that was asked of one engine and is answered by another."""

from __future__ import annotations

from dataclasses import replace

from backend.contract.engine import Capabilities
from backend.contract.turn import Turn
from backend.contract.voice import VoiceControls, VoiceSpec


def fitted(turn: Turn, can: Capabilities) -> Turn:
    """The same turn, with the engine's own way in place of settings that this engine lacks.

    Texts to be spoken and tasks stay as they are, for the engine to take or refuse: there the voice
    is what was asked for.
    """
    if turn.script or turn.task is not None:
        return turn
    asked, voice = turn.settings, can.voice
    understood = can.languages or ("auto",)
    settings = replace(
        asked,
        language=asked.language if asked.language in understood else understood[0],
        voice=asked.voice if _has(voice, asked.voice) else VoiceSpec(),
        voice_speed=asked.voice_speed if voice.changes_speed else 1.0,
        voice_pitch=asked.voice_pitch if voice.changes_pitch else 0.0,
    )
    return turn if settings == asked else replace(turn, settings=settings)


def _has(controls: VoiceControls, voice: VoiceSpec) -> bool:
    return (
        voice.mode in (None, *controls.modes)
        and voice.speaker in ("", *controls.speakers)
        and voice.language in ("auto", *controls.languages)
        and len(voice.style) <= controls.style_chars
        and controls.takes_token_ids >= voice.pass_token_ids
    )
