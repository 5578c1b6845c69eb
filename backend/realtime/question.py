"""The next question of a client that says by itself when it wants an answer."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from backend.contract.media import AudioClip
from backend.conversation.record import new_item_id
from backend.conversation.session import Session
from backend.media.audio import from_samples
from backend.media.snapshots import Snapshots, decode_snapshots
from backend.realtime.incoming import ResponseConfig, UserItem


class PendingQuestion:
    """What was written and recorded since the last answer, on the web server's loop."""

    def __init__(self, session: Session, snapshots: Snapshots) -> None:
        """Begin with nothing; ``snapshots`` has what the camera sees."""
        self._session = session
        self._snapshots = snapshots
        self._typed: list[str] = []
        self._typed_id = self._recorded_id = ""

    def write(self, item: UserItem) -> str:
        """Add written words; returns the id of their item."""
        self._typed += [part.text for part in item.content]
        self._typed_id = item.id or new_item_id()
        return self._typed_id

    def commit(self) -> str:
        """The recording is complete; returns the id of its item."""
        self._recorded_id = new_item_id()
        return self._recorded_id

    async def ask(self, wanted: ResponseConfig) -> None:
        """Make a turn of it.

        Raises:
            TurnRefused: there is nothing, or nothing that can be taken.
        """
        recorded = self._session.recording.take()
        text, self._typed = "\n".join(self._typed), []
        item_id = (recorded and self._recorded_id) or self._typed_id
        self._typed_id = self._recorded_id = ""
        clip = await asyncio.to_thread(from_samples, *recorded) if recorded else None
        frames = await asyncio.to_thread(decode_snapshots, self._snapshots.recent())
        settings = self._session.settings
        if wanted.instructions is not None:
            settings = replace(settings, system_prompt=wanted.instructions)
        self._session.ask(
            text=text,
            audio=clip,
            frames=frames,
            settings=settings,
            attachments=_attachments(clip),
            item_id=item_id,
        )


def _attachments(clip: AudioClip | None) -> tuple[str, ...]:
    return (f"Recording, {clip.duration_s:.1f} s",) if clip else ()
