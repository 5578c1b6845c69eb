"""From what a client asks for to a task under way."""

from __future__ import annotations

import asyncio
from functools import cache

from backend.contract.engine import Capabilities, TurnStream
from backend.contract.errors import TurnRefused
from backend.contract.media import AudioClip
from backend.contract.tasks import EarlierTurn, TaskRequest, check_inputs, misfit, task_kind
from backend.contract.turn import Turn, TurnSettings
from backend.runtime.engine_thread import EngineThread
from backend.speech_api.errors import ApiError, of_refusal
from backend.speech_api.guards import known_capabilities
from backend.speech_api.task_reply import TaskReply
from backend.speech_api.task_request import TaskBody
from backend.speech_api.voice_list import find_voice
from backend.tasks.job import TaskJob
from backend.tasks.shelf import ClipShelf
from backend.voices.library import VoiceLibrary
from backend.voices.refusals import VoiceRefused

MAX_HISTORY_S = 1200.0
"""Most sound of all earlier turns, in seconds: what MiMo-Audio's context could hold at most."""


class TaskStarter:
    """Starts tasks on an engine, with recordings from a shelf and voices from a library."""

    def __init__(self, engine: EngineThread, library: VoiceLibrary, shelf: ClipShelf) -> None:
        """Start them with these three."""
        self._engine = engine
        self._library = library
        self._shelf = shelf

    async def start(self, asked: TaskBody, owner: str) -> TaskReply:
        """Queue a task; there is no reply yet.

        Raises:
            ApiError: It is wrong in itself, or the engine cannot do it now or at all.
        """
        can = known_capabilities(self._engine)
        _check_task(asked, can)
        turn, made_by = await asyncio.to_thread(self._turn, asked, owner)
        try:
            job = TaskJob(turn, lambda one: self._submit(one, can))
        except TurnRefused as refusal:
            raise of_refusal(refusal) from refusal
        return TaskReply(job, self._shelf, owner, f"{can.name}, {made_by}")

    def _submit(self, turn: Turn, known: Capabilities) -> TurnStream:
        if self._engine.status.capabilities != known:
            text = "Another engine was loaded before this was done. Ask again for the rest."
            raise TurnRefused("engine_changed", text)
        return self._engine.submit(turn)

    def _turn(self, asked: TaskBody, owner: str) -> tuple[Turn, str]:
        voice, name = self._voice(asked, owner)
        request = self._request(asked, owner, voice)
        kind = task_kind(asked.task, asked.variant)
        try:
            check_inputs(kind, request)
        except TurnRefused as refusal:
            raise of_refusal(refusal, misfit(kind, request) or "text") from refusal
        settings = TurnSettings(max_reply_tokens=asked.max_tokens, spoken=kind.speaks)
        return Turn(session_id=owner, generation=0, task=request, settings=settings), name

    def _request(self, asked: TaskBody, owner: str, voice: AudioClip | None) -> TaskRequest:
        @cache  # a clip that is named twice is held once
        def sound(clip_id: str, param: str) -> AudioClip | None:
            return self._sound(owner, clip_id, param) if clip_id else None

        self._check_history(asked, owner)
        return TaskRequest(
            task=asked.task,
            variant=asked.variant,
            text=asked.text,
            instruct=asked.instruct,
            voice=voice or sound(asked.voice_clip, "voice_clip"),
            clip=sound(asked.clip, "clip"),
            question=asked.question,
            system_prompt=asked.system_prompt,
            history=tuple(
                EarlierTurn(
                    text=turn.text,
                    clip=sound(turn.clip, "history"),
                    answer=turn.answer,
                    answer_clip=sound(turn.answer_clip, "history"),
                )
                for turn in asked.history
            ),
            phrase=asked.phrase,
        )

    def _check_history(self, asked: TaskBody, owner: str) -> None:
        named = [clip for turn in asked.history for clip in (turn.clip, turn.answer_clip) if clip]
        try:
            seconds = sum(self._shelf.clip(owner, clip).duration_s for clip in named)
        except TurnRefused as refusal:
            raise of_refusal(refusal, "history") from refusal
        if seconds > MAX_HISTORY_S:
            text = (
                f"The earlier turns have {seconds:.0f} s of sound; the limit is {MAX_HISTORY_S:.0f}"
                " s. Leave out the oldest, or send their words alone."
            )
            raise ApiError(400, text, "history_too_long", "history")

    def _sound(self, owner: str, clip_id: str, param: str) -> AudioClip:
        try:
            return self._shelf.sound(owner, clip_id)
        except TurnRefused as refusal:
            raise of_refusal(refusal, param) from refusal

    def _voice(self, asked: TaskBody, owner: str) -> tuple[AudioClip | None, str]:
        """The recording of the kept voice, and what people call whose voice it will be."""
        if not asked.voice:
            return None, "voice of a recording" if asked.voice_clip else "its own voice"
        if asked.voice_clip:
            text = "Name a kept voice or a clip, not both."
            raise ApiError(400, text, "voice_twice", "voice_clip")
        kept = find_voice(self._library, owner, asked.voice)
        if kept is None:
            text = f"There is no kept voice called {asked.voice}."
            raise ApiError(400, text, "voice_unknown", "voice")
        try:
            clip = self._library.clip(kept)
        except VoiceRefused as refusal:
            raise of_refusal(refusal, "voice") from refusal
        if clip is None:
            text = f"The voice {kept.name} has no recording that could be spoken after."
            raise ApiError(400, text, "voice_mode", "voice")
        return clip, f"voice {kept.name}"


def _check_task(asked: TaskBody, can: Capabilities) -> None:
    try:
        task_kind(asked.task, asked.variant)
    except TurnRefused as refusal:
        param = "variant" if refusal.code == "unknown_variant" else "task"
        raise of_refusal(refusal, param) from refusal
    if asked.task not in can.tasks:
        raise ApiError(400, can.no_other_tasks, "task_unavailable", "task")
