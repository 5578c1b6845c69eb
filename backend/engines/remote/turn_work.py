"""One turn on the server: open a session, put the question, tell of the answer, close."""

from __future__ import annotations

import asyncio

from backend.contract.events import QUEUED, Notice, Silence, Transcript
from backend.contract.media import AudioClip
from backend.contract.turn import Turn
from backend.engines.events import Emit
from backend.engines.remote.answer import Answer
from backend.engines.remote.places import open_when_free
from backend.engines.remote.question import (
    MAX_PICTURES,
    instructions_for,
    pictures_of,
    voice_for,
)
from backend.engines.remote.server import Server
from backend.engines.remote.wire import COMMIT, Message, append, session_update
from backend.media.pauses import is_quiet
from backend.media.snapshots import KEPT


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
        session = await open_when_free(self._server, self._update(words), self._tell_wait)
        complete = False
        try:
            await session.say(question)
            await session.say(COMMIT)
            answer = Answer(turn, self._emit, heard=clip is not None)
            async for message in session:
                if complete := answer.take(message):
                    break
        finally:
            await session.end(cancel=not complete)

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

    def _tell_wait(self) -> None:
        text = "The server is busy with other conversations; this one waits for its place."
        self._emit(Notice(turn_id=self._turn.id, code=QUEUED, text=text))
