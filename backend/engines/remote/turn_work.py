"""One turn on the server: open a session, put the question, tell of the answer, close."""

from __future__ import annotations

import asyncio
import time

from backend.contract.events import QUEUED, Notice, Silence, Transcript
from backend.contract.media import AudioClip
from backend.contract.turn import Turn
from backend.engines.events import Emit
from backend.engines.omni.pauses import is_quiet
from backend.engines.remote.answer import Answer
from backend.engines.remote.question import (
    MAX_PICTURES,
    instructions_for,
    pictures_of,
    voice_for,
)
from backend.engines.remote.server import Server
from backend.engines.remote.session import Session, open_session
from backend.engines.remote.troubles import ServerBusy
from backend.engines.remote.wire import COMMIT, Message, append, session_update
from backend.media.snapshots import KEPT

BUSY_S = 20.0
"""Seconds to wait for a place on the server: less than a turn may go without an event."""

_TRY_EVERY_S = 0.5


class TurnWork:
    """Works on one turn and tells of it through ``emit``."""

    def __init__(self, turn: Turn, server: Server, emit: Emit) -> None:
        """Prepare the work; ``run`` does it."""
        self._turn = turn
        self._server = server
        self._emit = emit

    async def run(self) -> None:
        """Do all the work. Cancelling it stops the reply on the server and gives its place back.

        Raises:
            StageFailed: In plain words; the next turn may well succeed.
            ServerRefused: This server cannot serve at all.
        """
        turn = self._turn
        clip = self._clip()
        words = "\n".join(part for part in (turn.text.strip(), turn.heard.strip()) if part)
        if clip is None and not words and turn.frames is None:
            self._emit(Silence(turn_id=turn.id, reason="No speech was heard."))
            return
        self._tell_beforehand()
        question = await asyncio.to_thread(append, pictures_of(turn.frames), clip)
        session = await self._open(self._update(words))
        try:
            await session.say(question)
            await session.say(COMMIT)
            answer = Answer(turn, self._emit, heard=clip is not None)
            async for message in session:
                if answer.take(message):
                    break
        finally:
            await session.end()

    def _clip(self) -> AudioClip | None:
        """What is to be recognised: nothing that has been already, and no quiet room."""
        clip = self._turn.audio
        return None if clip is None or self._turn.heard or is_quiet(clip) else clip

    def _tell_beforehand(self) -> None:
        turn = self._turn
        if turn.heard:
            self._emit(Transcript(turn_id=turn.id, text=turn.heard, final=True))
        shown = 0 if turn.frames is None else len(turn.frames.images)
        # Of a call's pictures, which are of the last seconds, the latest two say it all.
        if shown > max(MAX_PICTURES, KEPT):
            text = f"The server looks at two of the {shown} pictures: the middle and the last one."
            self._emit(Notice(turn_id=turn.id, code="frames_left_out", text=text))

    def _update(self, words: str) -> Message:
        settings = self._turn.settings
        return session_update(
            instructions_for(self._turn, words),
            voice_for(settings.voice, self._server.speakers),
            settings.max_reply_tokens,
        )

    async def _open(self, update: Message) -> Session:
        deadline = time.monotonic() + BUSY_S
        waiting = False
        while True:
            try:
                return await open_session(self._server, update)
            except ServerBusy:
                if time.monotonic() > deadline:
                    raise
            if not waiting:
                waiting = True
                text = "The server is busy with other conversations; this one waits for its place."
                self._emit(Notice(turn_id=self._turn.id, code=QUEUED, text=text))
            await asyncio.sleep(_TRY_EVERY_S)
