"""With "watch" on, the assistant looks by itself when the scene changes, and may speak up."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from backend.contract.errors import TurnRefused
from backend.contract.media import VideoFrames
from backend.conversation.session import Session
from backend.media.snapshots import Snapshots, brightness, decode_snapshots

log = logging.getLogger(__name__)

LOOK_EVERY_S = 1.0

REST_S = 3.0
"""Least time between two looks of the model: it may speak, but it is not to chatter."""

CHANGED = 0.04
"""Mean difference of brightness, as a share of the full range, from which a scene is another one.
Noise and light of a camera at rest stay below 0.02, a hand that comes in is above 0.06."""

RULE = (
    "Nobody has said anything just now; you look by yourself, because what you see has changed."
    " Speak only if your instructions or the conversation ask you to speak of what you see now."
    " Otherwise output `<|silent|>` alone."
)


class Watch:
    """Looks at one page's pictures, on the web server's loop."""

    def __init__(self, session: Session, snapshots: Snapshots, idle: Callable[[], bool]) -> None:
        """Begin to watch.

        Args:
            session: Whose turns are made.
            snapshots: What the camera sees.
            idle: Whether nobody speaks, neither the person nor the assistant, and it can look.
        """
        self._session = session
        self._snapshots = snapshots
        self._idle = idle
        self._known: NDArray[np.float32] | None = None
        self._looked_at = 0.0
        self._task = asyncio.create_task(self._watch())

    def close(self) -> None:
        """Look no more."""
        self._task.cancel()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            try:
                frames = await asyncio.to_thread(decode_snapshots, self._snapshots.recent())
                if frames is not None and self._free and self._is_new(frames):
                    self._look(frames)
            except TurnRefused as refusal:
                log.info("not looked: %s", refusal.message)
            except Exception:
                log.exception("the watch of session %s stumbled", self._session.id[:8])

    @property
    def _free(self) -> bool:
        rested = time.monotonic() - self._looked_at > REST_S
        return rested and self._idle() and not self._session.under_way

    def _is_new(self, frames: VideoFrames) -> bool:
        """Whether it is another scene than the one known; the first is what it starts from."""
        seen = brightness(frames.images[-1])
        known, self._known = self._known, seen
        if known is None:
            return False
        if float(np.abs(seen - known).mean()) >= CHANGED:
            return True
        self._known = known  # or what changes slowly would never be a change
        return False

    def _look(self, frames: VideoFrames) -> None:
        self._looked_at = time.monotonic()
        settings = self._session.settings
        prompt = f"{settings.system_prompt} {RULE}".strip()
        self._session.ask(
            frames=frames,
            settings=replace(settings, system_prompt=prompt),
            attachments=("Seen while watching",),
            unasked=True,
        )
