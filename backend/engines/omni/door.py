"""The engine's own door: whatever a stage or a bridge could choke on goes no further."""

from __future__ import annotations

import math

import numpy as np

from backend.contract.engine import Capabilities
from backend.contract.errors import Field, TurnRefused
from backend.contract.media import VideoFrames
from backend.contract.turn import Turn, TurnSettings
from backend.contract.voice import VoiceControls, VoiceMode, VoiceSpec
from backend.conversation.languages import language_name
from backend.engines.door import check_audio, check_frames, check_pitch, check_script, check_task
from backend.engines.omni.checkpoint import speaker_name

MAX_REPLY_TOKENS = 2048
MAX_SEED = 2**32 - 1
MIN_TEMPERATURE, MAX_TEMPERATURE = 0.1, 2.0
MAX_ASPECT = 200
"""Qwen's image processor refuses a picture whose sides differ more."""

MAX_CHARS_A_SECOND = 50
"""More characters of reference text for a second of the clip are not the words spoken in it."""

MIN_REFERENCE_DB = -50.0
"""Root mean square below which reference audio holds no voice to copy, in dB of full scale."""


def check_turn(turn: Turn, capabilities: Capabilities) -> None:
    """Refuse a turn that cannot be worked on.

    Raises:
        TurnRefused: ``only_scripts``, ``only_tasks``, ``empty_turn``, ``audio_empty``,
            ``audio_format``, ``audio_not_finite``, ``frames_format``, ``unknown_language``,
            ``reply_tokens``, ``seed``, ``temperature``, or one of ``check_task``,
            ``check_script``, ``check_pitch`` and ``check_voice``.
    """
    _check_sampling(turn.settings)
    check_pitch(turn.settings, capabilities.voice)
    if turn.task is not None:
        check_task(turn.task, capabilities)
        _check_length(turn.settings)
        return
    if turn.script:
        check_script(turn, recites=capabilities.recites)
    elif capabilities.answers:
        _check_question(turn, capabilities)
    elif capabilities.recites:
        text = "This engine speaks texts as they are, and answers no questions."
        raise TurnRefused("only_scripts", text)
    else:
        text = "This engine works on tasks, and holds no calls: use the Tasks tab."
        raise TurnRefused("only_tasks", text)
    check_voice(turn.settings.voice, capabilities.voice)


def _check_sampling(settings: TurnSettings) -> None:
    seed, temperature = settings.seed, settings.temperature
    if seed is not None and not 0 <= seed <= MAX_SEED:
        text = f"The seed must lie between 0 and {MAX_SEED:,}."
        raise TurnRefused("seed", text, Field.SETTINGS)
    if temperature is not None and not MIN_TEMPERATURE <= temperature <= MAX_TEMPERATURE:
        text = f"The temperature must lie between {MIN_TEMPERATURE} and {MAX_TEMPERATURE}."
        raise TurnRefused("temperature", text, Field.SETTINGS)


def _check_question(turn: Turn, capabilities: Capabilities) -> None:
    if turn.audio is None and turn.frames is None and not turn.text.strip():
        raise TurnRefused("empty_turn", "Say, type or show something first.")
    if turn.audio is not None:
        check_audio(turn.audio)
    if turn.frames is not None:
        _check_frames(turn.frames)
    settings = turn.settings
    if settings.language not in capabilities.languages:
        text = f"This engine does not understand {language_name(settings.language)} speech."
        raise TurnRefused("unknown_language", text, Field.SETTINGS)
    _check_length(settings)


def _check_length(settings: TurnSettings) -> None:
    if not 1 <= settings.max_reply_tokens <= MAX_REPLY_TOKENS:
        text = f"The longest reply must lie between 1 and {MAX_REPLY_TOKENS} tokens."
        raise TurnRefused("reply_tokens", text, Field.SETTINGS)


def check_voice(voice: VoiceSpec, controls: VoiceControls) -> None:
    """Refuse a voice that the talker could not speak with.

    Raises:
        TurnRefused: ``voice_mode``, ``unknown_voice``, ``voice_language``, ``style_too_long``,
            ``reference_missing``, ``reference_text_missing``, ``reference_length``,
            ``reference_text_long``, ``reference_quiet``, ``reference_unused``, ``style_missing``,
            or an ``audio_`` code of the reference.
    """
    mode = voice.mode or controls.modes[0]
    if mode not in controls.modes:
        _refuse("voice_mode", _MODE_MISSING[mode])
    if voice.language != "auto" and voice.language not in controls.languages:
        _refuse("voice_language", f"The voice does not speak {language_name(voice.language)}.")
    if len(voice.style) > controls.style_chars:
        _refuse("style_too_long", _style_message(voice.style, controls.style_chars))
    if mode is VoiceMode.CLONE:
        _check_reference(voice, controls)
    elif voice.reference_audio is not None:
        _refuse("reference_unused", "A voice of the model takes no reference clip. Remove it.")
    elif voice.speaker.strip() and speaker_name(voice.speaker) not in controls.speakers:
        names = ", ".join(controls.speakers) or "none; leave the voice empty"
        _refuse("unknown_voice", f"There is no such voice here. Choose from: {names}.")
    if mode is VoiceMode.DESIGN and not any(character.isalnum() for character in voice.style):
        _refuse("style_missing", "Describe the voice in words: the model makes it up from them.")


_MODE_MISSING = {
    VoiceMode.CLONE: "This model has voices of its own and cannot copy one. A Base checkpoint can.",
    VoiceMode.DESIGN: "This model makes up no voices from words. A VoiceDesign checkpoint does.",
    VoiceMode.NAMED: "This model can only copy a voice: give it a reference clip and its words.",
}


def _style_message(style: str, limit: int) -> str:
    if not limit:
        return "This model does not follow a style. Leave the style empty."
    return f"The style has {len(style):,} characters; the limit is {limit}."


def _check_reference(voice: VoiceSpec, controls: VoiceControls) -> None:
    clip = voice.reference_audio
    if voice.speaker.strip():
        _refuse("unknown_voice", "This model has no voices of its own. Leave the voice empty.")
    if clip is None:
        _refuse("reference_missing", "Add a clip of the voice to copy.")
        return
    check_audio(clip, "clip of the voice", Field.VOICE)
    shortest, longest = controls.reference_s
    if not shortest <= clip.duration_s <= longest:
        text = (
            f"The clip of the voice has {clip.duration_s:.1f} s;"
            f" it must have between {shortest:g} and {longest:g} s."
        )
        _refuse("reference_length", text)
    level = float(np.sqrt(np.mean(np.square(clip.samples, dtype=np.float64))))
    if level < 10 ** (MIN_REFERENCE_DB / 20):
        _refuse("reference_quiet", "There is hardly any sound in the clip of the voice.")
    if not voice.reference_text.strip() and not voice.x_vector_only:
        text = "Write down the words of the clip, or choose to copy the sound of the voice only."
        _refuse("reference_text_missing", text)
    if len(voice.reference_text) > MAX_CHARS_A_SECOND * clip.duration_s:
        text = "Nobody speaks so many words in so short a clip. Write down only those of the clip."
        _refuse("reference_text_long", text)


def _check_frames(frames: VideoFrames) -> None:
    check_frames(frames)
    shape = frames.images.shape
    if len(frames.times_s) != shape[0] or not math.isfinite(frames.duration_s):
        text = "These pictures do not come with their times."
        raise TurnRefused("frames_format", text, Field.VIDEO)
    if max(shape[1:3]) / min(shape[1:3]) > MAX_ASPECT:
        text = "These pictures are too narrow to be looked at."
        raise TurnRefused("frames_format", text, Field.VIDEO)


def _refuse(code: str, text: str) -> None:
    raise TurnRefused(code, text, Field.VOICE)
