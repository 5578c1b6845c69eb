"""What a page's messages do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import assert_never

from backend.contract.errors import TurnRefused
from backend.conversation.session import Session
from backend.media.audio import from_samples
from backend.media.snapshots import Snapshots, decode_snapshots
from backend.realtime import protocol
from backend.realtime.call import Call
from backend.realtime.playback import Playback
from backend.realtime.protocol import Message
from backend.runtime.engine_thread import EngineThread


class Dispatch:
    """Acts on the messages of one connection, on the web server's loop."""

    def __init__(
        self, session: Session, engine: EngineThread, post: Callable[[Message], None]
    ) -> None:
        """Act on ``session``; ``post`` takes the answers."""
        self._session = session
        self._engine = engine
        self._post = post
        self._playback = Playback(session)
        self._snapshots = Snapshots()
        self._call: Call | None = None
        self._typed: list[str] = []
        self._tasks: set[asyncio.Task[None]] = set()

    def act(self, message: protocol.ClientMessage) -> None:  # noqa: C901 - a case for each message
        """Do what a message asks for.

        Raises:
            ValueError: it cannot be done now, in plain words.
        """
        session = self._session
        match message:
            case protocol.AudioAppend():
                self._hear(message)
            case protocol.AudioCommit():
                self._post({"type": "input_audio_buffer.committed", "item_id": None})
            case protocol.AudioClear():
                session.recording.clear()
            case protocol.ItemCreate():
                self._typed += [part.text for part in message.item.content]
            case protocol.ItemTruncate():
                self._truncate(message)
            case protocol.ResponseCreate():
                self._begin(self._respond())
            case protocol.ResponseCancel():
                session.interrupt()
            case protocol.PlaybackReport():
                played_s = message.played_ms / 1000
                self._playback.note(message.response_id, played_s, playing=message.playing)
            case protocol.SessionUpdate():
                self._update(message.session)
            case protocol.Clear():
                session.clear()
            case protocol.Rebuild():
                self._engine.rebuild_if_failed()
            case _:
                assert_never(message)

    def close(self) -> None:
        """The page has left: a call ends with its connection."""
        self._hang_up()

    def _update(self, config: protocol.SessionConfig) -> None:
        session = self._session
        if config.instructions is not None:
            session.settings = replace(session.settings, system_prompt=config.instructions)
        if config.detects_turns is not None:
            self._hang_up()
            if config.detects_turns:
                session.recording.clear()
                self._call = Call(
                    session, self._engine.hear, self._post, self._playback, self._snapshots
                )
        detection = {"type": "server_vad"} if self._call else None
        told = {
            "id": session.id,
            "turn_detection": detection,
            "instructions": session.settings.system_prompt,
        }
        self._post({"type": "session.updated", "session": told})

    def _hang_up(self) -> None:
        if self._call is not None:
            self._call.close()
            self._call = None

    def _hear(self, message: protocol.AudioAppend) -> None:
        for jpeg in message.video_frames:
            self._snapshots.add(jpeg)
        if self._call is None:
            self._record(message)
        else:
            self._call.feed(message.audio, message.sample_rate)

    def _record(self, message: protocol.AudioAppend) -> None:
        recording = self._session.recording
        was_full = recording.full
        recording.append(message.audio, message.sample_rate)
        if recording.full and not was_full:
            text = "The recording has reached its longest and ends here."
            self._post({"type": "omni.recording.full", "text": text})

    async def _respond(self) -> None:
        """Make a turn of what was recorded and written since the last one."""
        recorded = self._session.recording.take()
        text, self._typed = "\n".join(self._typed), []
        try:
            clip = await asyncio.to_thread(from_samples, *recorded) if recorded else None
            attachments = (f"Recording, {clip.duration_s:.1f} s",) if clip else ()
            frames = await asyncio.to_thread(decode_snapshots, self._snapshots.recent())
            self._session.ask(text=text, audio=clip, frames=frames, attachments=attachments)
        except TurnRefused as refusal:
            self._post(protocol.encode_error(refusal.code, refusal.message))
            self._post({"type": "omni.utterance.dropped", "reason": refusal.message})

    def _truncate(self, message: protocol.ItemTruncate) -> None:
        record = self._session.truncate(message.item_id, message.audio_end_ms / 1000)
        if record is None:
            raise ValueError("there is no such item")
        self._post(
            {
                "type": "conversation.item.truncated",
                "item_id": message.item_id,
                "audio_end_ms": message.audio_end_ms,
                "reply": record.reply,
            }
        )

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
