"""From what a client asks for to a task under way."""

from __future__ import annotations

import asyncio

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
from backend.speech_api.task_sounds import Sounds, kept_voice, named_sounds
from backend.speech_api.task_telling import Told
from backend.tasks.job import TaskJob
from backend.tasks.shelf import ClipShelf
from backend.voices.library import VoiceLibrary


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
        turn, voice, left_out = await asyncio.to_thread(self._turn, asked, owner)
        try:
            job = TaskJob(turn, lambda one: self._submit(one, can))
        except TurnRefused as refusal:
            raise of_refusal(refusal) from refusal

        def made_by() -> str:  # by another engine where it was changed while this waited
            name = (self._engine.status.capabilities or can).name
            return f"{name}, voice {voice}" if voice else name

        notices = (_history_cut(left_out),) if left_out else ()
        return TaskReply(job, self._shelf, owner, made_by, notices)

    def _submit(self, turn: Turn, known: Capabilities) -> TurnStream:
        if self._engine.status.capabilities != known:
            text = "Another engine was loaded before this was done. Ask again for the rest."
            raise TurnRefused("engine_changed", text)
        return self._engine.submit(turn)

    def _turn(self, asked: TaskBody, owner: str) -> tuple[Turn, str, int]:
        """The turn, the name of its kept voice, and how many clips of its history are not in it."""
        voice, name = kept_voice(asked, self._library, owner)
        sounds, left_out = named_sounds(asked, self._shelf, owner)
        request = _request(asked, sounds, voice or sounds.get("voice_clip"))
        kind = task_kind(asked.task, asked.variant)
        try:
            check_inputs(kind, request)
        except TurnRefused as refusal:
            raise of_refusal(refusal, misfit(kind, request) or "text") from refusal
        settings = TurnSettings(max_reply_tokens=asked.max_tokens, spoken=kind.speaks)
        turn = Turn(session_id=owner, generation=0, task=request, settings=settings)
        return turn, name, left_out


def _request(asked: TaskBody, sounds: Sounds, voice: AudioClip | None) -> TaskRequest:
    return TaskRequest(
        task=asked.task,
        variant=asked.variant,
        text=asked.text,
        instruct=asked.instruct,
        voice=voice,
        clip=sounds.get("clip"),
        question=asked.question,
        system_prompt=asked.system_prompt,
        history=tuple(
            EarlierTurn(
                turn.text,
                sounds.get(f"history.{number}.clip"),
                turn.answer,
                sounds.get(f"history.{number}.answer_clip"),
            )
            for number, turn in enumerate(asked.history)
        ),
        phrase=asked.phrase,
    )


def _history_cut(recordings: int) -> Told:
    count = "One recording" if recordings == 1 else f"{recordings} recordings"
    text = f"{count} of earlier turns left out: there is too much sound. Their words are kept."
    return {"type": "notice", "code": "history_cut", "text": text}


def _check_task(asked: TaskBody, can: Capabilities) -> None:
    try:
        task_kind(asked.task, asked.variant)
    except TurnRefused as refusal:
        param = "variant" if refusal.code == "unknown_variant" else "task"
        raise of_refusal(refusal, param) from refusal
    if asked.task not in can.tasks:
        raise ApiError(400, can.no_other_tasks, "task_unavailable", "task")
