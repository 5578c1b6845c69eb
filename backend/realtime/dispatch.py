"""What a client's messages do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import assert_never

from backend.contract.errors import TurnRefused
from backend.conversation.session import Session
from backend.media.snapshots import Snapshots
from backend.realtime import incoming
from backend.realtime.call import Call
from backend.realtime.outgoing import encode_error, encode_session
from backend.realtime.playback import Playback
from backend.realtime.protocol import WIRE_RATE, Message
from backend.realtime.question import PendingQuestion
from backend.realtime.reading import BadMessage
from backend.realtime.session_config import SessionConfig
from backend.realtime.turn_events import TurnEvents
from backend.realtime.watch import Watch
from backend.runtime.engine_thread import EngineThread


class Dispatch:
    """Acts on the messages of one connection, on the web server's loop."""

    def __init__(
        self,
        session: Session,
        engine: EngineThread,
        post: Callable[[Message], None],
        told: TurnEvents,
    ) -> None:
        """Act on ``session``; ``post`` takes the answers, ``told`` keeps the order of items."""
        self._session = session
        self._engine = engine
        self._post = post
        self._told = told
        self._playback = Playback(session)
        self._snapshots = Snapshots()
        self._question = PendingQuestion(session, self._snapshots)
        self._call: Call | None = None
        self._watch: Watch | None = None
        self._input_rate = WIRE_RATE
        self._tasks: set[asyncio.Task[None]] = set()

    def act(self, message: incoming.ClientMessage) -> None:
        """Do what a message asks for.

        Raises:
            BadMessage: it cannot be done now, in plain words.
        """
        try:
            self._act(message)
        except ValueError as error:
            raise BadMessage(str(error), message.event_id) from error

    def close(self) -> None:
        """The client has left: a call ends with its connection."""
        self._hang_up()
        self._look_away()

    def _act(self, message: incoming.ClientMessage) -> None:  # noqa: C901 - a case for each message
        match message:
            case incoming.AudioAppend():
                self._hear(message)
            case incoming.AudioCommit():
                self._commit()
            case incoming.AudioClear():
                self._session.recording.clear()
                self._post({"type": "input_audio_buffer.cleared"})
            case incoming.ItemCreate():
                content = [part.model_dump() for part in message.item.content]
                self._add(self._question.write(message.item), content)
            case incoming.ItemTruncate():
                self._truncate(message)
            case incoming.ResponseCreate():
                self._begin(self._respond(message))
            case incoming.ResponseCancel():
                self._cancel(message)
            case incoming.PlaybackReport():
                played_s = message.played_ms / 1000
                self._playback.note(message.response_id, played_s, playing=message.playing)
            case incoming.SessionUpdate():
                self._update(message.session)
            case incoming.Clear():
                self._session.clear()
            case incoming.Rebuild():
                self._engine.rebuild_if_failed()
            case _:
                assert_never(message)

    def _update(self, config: SessionConfig) -> None:
        session = self._session
        if config.instructions is not None:
            session.settings = replace(session.settings, system_prompt=config.instructions)
        self._input_rate = config.input_rate or self._input_rate
        if config.detects_turns is not None:
            self._hang_up()
            if config.detects_turns:
                session.recording.clear()
                self._call = Call(
                    session,
                    self._engine.hear,
                    self._engine.foresee,
                    self._post,
                    self._playback,
                    self._snapshots,
                )
        if config.omni.watch is not None:
            self._look_away()
            if config.omni.watch:
                self._begin_to_watch()
        told = encode_session(session, self._engine.status, listens=self._call is not None)
        self._post({"type": "session.updated", "session": told})

    def _hang_up(self) -> None:
        if self._call is not None:
            self._call.close()
            self._call = None

    def _begin_to_watch(self) -> None:
        if not self._sees():
            raise ValueError("this engine does not see pictures, so it cannot watch")
        self._watch = Watch(self._session, self._snapshots, self._may_look)

    def _sees(self) -> bool:
        known = self._engine.status.capabilities
        return known is not None and known.sees_pictures

    def _may_look(self) -> bool:
        person = self._call is not None and self._call.person_speaks
        heard = person or self._playback.sounding or self._session.recording.begun
        return self._sees() and not heard  # the model may be another one than at first

    def _look_away(self) -> None:
        if self._watch is not None:
            self._watch.close()
            self._watch = None

    def _hear(self, message: incoming.AudioAppend) -> None:
        for jpeg in message.video_frames:
            self._snapshots.add(jpeg)
        rate = message.sample_rate or self._input_rate
        if self._call is None:
            self._record(message.audio, rate)
        else:
            self._call.feed(message.audio, rate)

    def _record(self, pcm16: bytes, sample_rate: int) -> None:
        recording = self._session.recording
        was_full = recording.full
        recording.append(pcm16, sample_rate)
        if recording.full and not was_full:
            text = "The recording has reached its longest and ends here."
            self._post({"type": "omni.recording.full", "text": text})

    def _commit(self) -> None:
        kind, item_id = "input_audio_buffer.committed", self._question.commit()
        before = self._told.last_item
        self._post({"type": kind, "item_id": item_id, "previous_item_id": before})
        self._add(item_id, [{"type": "input_audio", "transcript": None}])

    def _add(self, item_id: str, content: list[Message]) -> None:
        for message in self._told.item(item_id, content):
            self._post(message)

    async def _respond(self, message: incoming.ResponseCreate) -> None:
        try:
            await self._question.ask(message.response or incoming.ResponseConfig())
        except TurnRefused as refusal:
            self._post(encode_error(refusal.code, refusal.message, message.event_id))
            self._post({"type": "omni.utterance.dropped", "reason": refusal.message})

    def _cancel(self, message: incoming.ResponseCancel) -> None:
        newest = self._session.records[-1].turn.id if self._session.records else None
        if message.response_id not in (None, newest):
            raise ValueError("there is no such response under way")
        self._session.interrupt()

    def _truncate(self, message: incoming.ItemTruncate) -> None:
        record = self._session.truncate(message.item_id, message.audio_end_ms / 1000)
        if record is None:
            raise ValueError("there is no such item")
        self._post(
            {
                "type": "conversation.item.truncated",
                "item_id": message.item_id,
                "content_index": 0,
                "audio_end_ms": message.audio_end_ms,
                "reply": record.reply,
            }
        )

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
