"""The recordings that a request for a task names, from the shelf and the kept voices."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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

Sounds = dict[str, AudioClip]
"""Recordings by the fields that name them, such as ``history.0.clip``; each is held once."""


def named_sounds(asked: TaskBody, shelf: ClipShelf, owner: str) -> tuple[Sounds, int]:
    """The clips that a request names. Blocks.

    Returns:
        The clips, and how many of the earlier turns are not among them because there are newer
        ones with as much sound as a dialogue can hold.

    Raises:
        ApiError: ``clip_unknown``.
    """
    earlier = {
        f"history.{number}.{part}": clip_id
        for number, turn in reversed(tuple(enumerate(asked.history)))
        for part, clip_id in (("clip", turn.clip), ("answer_clip", turn.answer_clip))
        if clip_id
    }
    fitting = _fitting(earlier, shelf, owner)
    named = {"clip": asked.clip, "voice_clip": asked.voice_clip} | fitting
    held: Sounds = {}
    for field, clip_id in named.items():
        if clip_id and clip_id not in held:
            with _blaming(field):
                held[clip_id] = shelf.sound(owner, clip_id)
    sounds = {field: held[clip_id] for field, clip_id in named.items() if clip_id}
    return sounds, len(earlier) - len(fitting)


def _fitting(earlier: dict[str, str], shelf: ClipShelf, owner: str) -> dict[str, str]:
    """Of the ids of clips, newest first, those that a dialogue has room for."""
    fitting, room_s = {}, MAX_HISTORY_S
    for field, clip_id in earlier.items():
        with _blaming(field):
            seconds = shelf.clip(owner, clip_id).duration_s
        if seconds <= room_s:
            fitting[field] = clip_id
            room_s -= seconds
    return fitting


@contextmanager
def _blaming(field: str) -> Iterator[None]:
    try:
        yield
    except TurnRefused as refusal:
        raise of_refusal(refusal, field) from refusal


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
