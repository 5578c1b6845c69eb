"""The recordings that a request for a task names, from the shelf and the kept voices."""

from __future__ import annotations

from backend.contract.errors import TurnRefused
from backend.contract.media import AudioClip
from backend.speech_api.errors import ApiError, of_refusal
from backend.speech_api.task_request import TaskBody
from backend.speech_api.voice_list import find_voice
from backend.tasks.shelf import ClipShelf
from backend.voices.library import VoiceLibrary
from backend.voices.refusals import VoiceRefused

MAX_HISTORY_S = 1200.0
"""Most sound of all earlier turns, in seconds: what MiMo-Audio's context could hold at most."""

Sounds = dict[str, AudioClip | None]
"""Recordings by their ids, each held once; none is that of an empty id."""


def named_sounds(asked: TaskBody, shelf: ClipShelf, owner: str) -> Sounds:
    """The clips that a request names. Blocks.

    Raises:
        ApiError: ``clip_unknown`` or ``history_too_long``.
    """
    earlier = {
        f"history.{number}.{part}": clip_id
        for number, turn in enumerate(asked.history)
        for part, clip_id in (("clip", turn.clip), ("answer_clip", turn.answer_clip))
    }
    named = {"clip": asked.clip, "voice_clip": asked.voice_clip} | earlier
    sounds: Sounds = {"": None}
    seconds = 0.0
    for param, clip_id in named.items():
        try:
            if param in earlier and clip_id:
                seconds += shelf.clip(owner, clip_id).duration_s
                _check_history(seconds)
            if clip_id not in sounds:
                sounds[clip_id] = shelf.sound(owner, clip_id)
        except TurnRefused as refusal:
            raise of_refusal(refusal, param) from refusal
    return sounds


def _check_history(seconds: float) -> None:
    if seconds > MAX_HISTORY_S:
        text = (
            f"The earlier turns have more than {MAX_HISTORY_S:.0f} s of sound. Leave out the"
            " oldest, or send their words alone."
        )
        raise ApiError(400, text, "history_too_long", "history")


def kept_voice(asked: TaskBody, library: VoiceLibrary, owner: str) -> tuple[AudioClip | None, str]:
    """The recording of the kept voice that a request names, if any, and its name. Blocks.

    Raises:
        ApiError: ``voice_twice``, ``voice_unknown``, ``voice_mode``, or a code of
            ``VoiceLibrary.clip``.
    """
    if not asked.voice:
        return None, ""
    if asked.voice_clip:
        text = "Name a kept voice or a clip, not both."
        raise ApiError(400, text, "voice_twice", "voice_clip")
    kept = find_voice(library, owner, asked.voice)
    if kept is None:
        text = f"There is no kept voice called {asked.voice}."
        raise ApiError(400, text, "voice_unknown", "voice")
    try:
        clip = library.clip(kept)
    except VoiceRefused as refusal:
        raise of_refusal(refusal, "voice") from refusal
    if clip is None:
        text = f"The voice {kept.name} has no recording that could be spoken after."
        raise ApiError(400, text, "voice_mode", "voice")
    return clip, kept.name
