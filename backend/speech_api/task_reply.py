"""The answer to a task: its events while they happen, and its sound on the shelf."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Sequence

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from backend.contract.errors import TurnRefused
from backend.contract.events import SpeechChunk, TurnEnd
from backend.speech_api.task_telling import Told, sse, told_of
from backend.tasks.job import TaskJob
from backend.tasks.recording import Recording
from backend.tasks.shelf import ClipShelf

log = logging.getLogger(__name__)

_NOT_KEPT: Told = {
    "type": "notice",
    "code": "sound_not_kept",
    "text": "There was no room to keep the sound of this reply. What you heard is all there is.",
}


class TaskReply(StreamingResponse):
    """Server-sent events of a job, which ends with the connection whenever that does."""

    def __init__(
        self,
        job: TaskJob,
        shelf: ClipShelf,
        owner: str,
        made_by: Callable[[], str],
        notices: Sequence[Told] = (),
    ) -> None:
        """Answer with a job that is under way.

        Args:
            job: What happens.
            shelf: Takes what is heard of it, also of one that was left in the middle.
            owner: Who asked.
            made_by: Tells who speaks, for people, once the first sound has come.
            notices: What is to be told before anything happens.
        """
        super().__init__(self._events(), media_type="text/event-stream")
        self.headers["Cache-Control"] = "no-store"
        self.headers["X-Accel-Buffering"] = "no"  # proxies would hold back what is to be heard now
        self._job = job
        self._notices = notices
        self._begin: Callable[[int], Recording] = lambda rate: shelf.record(owner, made_by(), rate)
        self._recording: Recording | None = None
        self._full = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it. A client that leaves early may leave before the first event is asked for."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._job.cancel()
            self._finish()

    async def _events(self) -> AsyncIterator[str]:
        for notice in self._notices:
            yield sse(notice)
        clip: str | None = None
        async for event in self._job.events():
            if isinstance(event, SpeechChunk):
                clip = self._record(event)
            if isinstance(event, TurnEnd):
                clip = self._finish()
                if self._full:
                    yield sse(_NOT_KEPT)
            if told := told_of(event, clip):
                yield sse(told)

    def _record(self, chunk: SpeechChunk) -> str | None:
        """Keep a chunk; the id that the whole will have, or none where there is no room for it."""
        if self._full:
            return None
        try:
            if self._recording is None:
                self._recording = self._begin(chunk.sample_rate)
            self._recording.add(chunk.pcm)
        except OSError as error:
            self._drop(error)
            return None
        return self._recording.clip.id

    def _finish(self) -> str | None:
        """Put what was heard on the shelf; its id there. Never waits: a cancelled task cannot."""
        if self._recording is None:
            return None
        try:
            kept = self._recording.finish().id
        except (OSError, TurnRefused) as error:
            self._drop(error)
            return None
        self._recording = None
        return kept

    def _drop(self, error: Exception) -> None:
        log.warning("a reply cannot be kept: %s", error)
        self._full = True
        if self._recording:
            self._recording.discard()
        self._recording = None
