"""The engine's own door: a turn that a stage could choke on goes no further."""

from __future__ import annotations

import math

from backend.contract.engine import Capabilities
from backend.contract.errors import Field, TurnRefused
from backend.contract.turn import Turn, TurnSettings
from backend.contract.voice import VoiceControls, VoiceSpec
from backend.conversation.languages import language_name
from backend.engines.door import check_audio, check_frames, check_pitch, check_script
from backend.engines.embedded.prompt import Fits, fitting_messages, instructions, user_message

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
            ``frames_format``, ``voice_speed``, ``reply_tokens``, ``voice_mode``, ``unknown_voice``,
            ``unknown_language``, ``nothing_to_say``, ``script_and_question``, or one of
            ``check_pitch``.
    """
    if turn.script:
        check_script(turn)
    elif turn.audio is None and turn.frames is None and not turn.text.strip():
        raise TurnRefused("empty_turn", "Say, type or show something first.")
    if turn.audio is not None:
        check_audio(turn.audio)
        _check_language(turn.settings.language, capabilities.languages)
    if turn.frames is not None:
        check_frames(turn.frames)
    _check_settings(turn.settings, capabilities, context)


def check_length(turn: Turn, voice_language: str, fits: Fits) -> None:
    """Refuse typed text that leaves no room for the reply, before any model works on it.

    Args:
        turn: The turn.
        voice_language: The language that the voice speaks, or empty.
        fits: Whether a prompt leaves room for the reply; may ask the chat model for a count.

    Raises:
        TurnRefused: ``text_too_long`` or ``system_prompt_too_long``.
    """
    system = instructions(turn.settings.system_prompt, voice_language)
    if fitting_messages(system, (), user_message(turn.text), fits) is not None:
        return
    if fitting_messages("", (), user_message(turn.text), fits) is None:
        text = "This text is too long for the chat model. Shorten it."
        raise TurnRefused("text_too_long", text, Field.TEXT)
    text = "The system prompt and the text together are too long for the chat model."
    raise TurnRefused("system_prompt_too_long", text, Field.SETTINGS)


def _check_language(chosen: str, known: tuple[str, ...]) -> None:
    if chosen == "auto" or chosen in known:
        return
    names = [language_name(code) for code in known if code != "auto"]
    if len(names) == 1:
        text = f"This engine understands only {names[0]} speech. Choose Automatic or {names[0]}"
    else:
        text = f"This engine does not understand {language_name(chosen)} speech. Choose Automatic"
    raise TurnRefused("unknown_language", f"{text} under Settings.", Field.SETTINGS)


def _check_settings(settings: TurnSettings, capabilities: Capabilities, context: int) -> None:
    speed, longest = settings.voice_speed, int(context * MAX_REPLY_SHARE)
    if not math.isfinite(speed) or not MIN_SPEED <= speed <= MAX_SPEED:
        text = f"The voice speed must lie between {MIN_SPEED} and {MAX_SPEED}."
        raise TurnRefused("voice_speed", text, Field.SETTINGS)
    check_pitch(settings, capabilities.voice)
    if not 1 <= settings.max_reply_tokens <= longest:
        text = f"The longest reply must lie between 1 and {longest} tokens."
        raise TurnRefused("reply_tokens", text, Field.SETTINGS)
    _check_voice(settings.voice, capabilities.voice)


def _check_voice(voice: VoiceSpec, controls: VoiceControls) -> None:
    if voice.mode not in (None, *controls.modes):
        text = "This engine cannot copy a voice. Choose one of its own voices."
        raise TurnRefused("voice_mode", text, Field.SETTINGS)
    if voice.speaker and voice.speaker not in controls.speakers:
        text = f"There is no such voice here. Choose from: {', '.join(controls.speakers)}."
        raise TurnRefused("unknown_voice", text, Field.SETTINGS)
