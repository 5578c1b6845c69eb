"""What no engine can take, whatever its models: checked at the door of each."""

from __future__ import annotations

import numpy as np

from backend.contract.engine import Capabilities
from backend.contract.errors import Field, TurnRefused
from backend.contract.media import AudioClip, VideoFrames
from backend.contract.tasks import TaskRequest, task_kind
from backend.contract.turn import Turn, TurnSettings
from backend.contract.voice import VoiceControls

MAX_PITCH = 6
"""Most semitones up or down; a voice moved further is not taken for one."""


def check_audio(clip: AudioClip, name: str = "recording", field: Field = Field.AUDIO) -> None:
    """Refuse what is not mono float sound.

    Args:
        clip: The sound.
        name: What the person calls it.
        field: Where it was given.

    Raises:
        TurnRefused: ``audio_empty``, ``audio_format`` or ``audio_not_finite``.
    """
    if clip.samples.size == 0:
        raise TurnRefused("audio_empty", f"This {name} is empty.", field)
    if clip.samples.ndim != 1 or clip.samples.dtype != np.float32 or clip.sample_rate <= 0:
        text = f"This {name} is not mono float sound at a known rate."
        raise TurnRefused("audio_format", text, field)
    if not np.isfinite(clip.samples).all():
        text = f"This {name} is damaged: some of its samples are not numbers."
        raise TurnRefused("audio_not_finite", text, field)


def check_script(turn: Turn, *, recites: bool = True) -> None:
    """Refuse a script that cannot be spoken.

    Args:
        turn: A turn with a script.
        recites: Whether the engine speaks scripts at all.

    Raises:
        TurnRefused: ``no_recital``, ``nothing_to_say`` or ``script_and_question``.
    """
    if not recites:
        text = "This engine speaks only the replies that it thinks up itself."
        raise TurnRefused("no_recital", text, Field.TEXT)
    if turn.text or turn.audio is not None or turn.frames is not None:
        raise TurnRefused("script_and_question", "Send a text to speak or a question, not both.")
    if not any(character.isalnum() for character in turn.script):
        raise TurnRefused("nothing_to_say", "There are no words to speak in this text.", Field.TEXT)


def check_task(task: TaskRequest, capabilities: Capabilities) -> None:
    """Refuse a task of a kind that the engine does not do.

    Raises:
        TurnRefused: ``unknown_task``, ``unknown_variant`` or ``task_not_offered``.
    """
    task_kind(task.task, task.variant)
    if task.task not in capabilities.tasks:
        raise TurnRefused("task_not_offered", capabilities.no_other_tasks, Field.SETTINGS)


def check_pitch(settings: TurnSettings, controls: VoiceControls) -> None:
    """Refuse a pitch that the voice cannot have.

    Raises:
        TurnRefused: ``voice_pitch`` or ``pitch_fixed``.
    """
    if not -MAX_PITCH <= settings.voice_pitch <= MAX_PITCH:
        text = f"The pitch must lie between {-MAX_PITCH} and {MAX_PITCH} semitones."
        raise TurnRefused("voice_pitch", text, Field.SETTINGS)
    if settings.voice_pitch and not controls.changes_pitch:
        text = "This engine cannot change the pitch of its voices. Leave the pitch at 0."
        raise TurnRefused("pitch_fixed", text, Field.SETTINGS)


def check_frames(frames: VideoFrames) -> None:
    """Refuse what are not RGB pictures.

    Raises:
        TurnRefused: ``frames_format``.
    """
    shape = frames.images.shape
    if len(shape) != 4 or shape[3] != 3 or 0 in shape or frames.images.dtype != np.uint8:
        raise TurnRefused("frames_format", "These pictures are not RGB pictures.", Field.VIDEO)
