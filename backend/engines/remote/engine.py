"""The engine that has its turns answered by a vLLM-Omni server, over the network."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing

from backend.contract.engine import Capabilities, Progress
from backend.contract.errors import EngineFailed, Field, TurnRefused
from backend.contract.events import Event
from backend.contract.media import AudioClip
from backend.contract.turn import Turn
from backend.contract.voice import VoiceControls
from backend.engines.ending import stopped
from backend.engines.events import Emit, events_of
from backend.engines.omni.checkpoint import STYLE_CHARS
from backend.engines.omni.door import check_turn
from backend.engines.remote.places import open_when_free
from backend.engines.remote.question import instructions_for, voice_for
from backend.engines.remote.server import Server
from backend.engines.remote.troubles import ServerBusy
from backend.engines.remote.turn_work import TurnWork
from backend.engines.remote.wire import SPEECH_RATE, session_update

MAX_AUDIO_S = 75.0
"""Longest recording: the server's recogniser writes 256 tokens, and says nothing of the rest."""

WARM_UP_S = 240.0
"""Seconds that the server may take to let the first session in: it warms up for up to 180."""

_ASK_EVERY_S = 1.0


class RemoteEngine:
    """Answers with AURA on a server; keeps no conversation and no connection between turns."""

    def __init__(self, server: Server) -> None:
        """Take the server; ``load`` waits for it."""
        self._server = server
        self._model = ""

    @property
    def capabilities(self) -> Capabilities:
        """What the server can do, as far as it is known from here."""
        model = f" {self._model}" if self._model else ""
        return Capabilities(
            name="Remote",
            summary=f"The model{model} on the vLLM-Omni server at {self._server.web}. It sees two"
            " pictures with each question, and may choose to stay silent.",
            sees_pictures=True,
            languages=("auto",),
            voice=VoiceControls(speakers=self._server.speakers, style_chars=STYLE_CHARS),
            sample_rate=SPEECH_RATE,
            max_concurrent_turns=self._server.sessions,
            hears_ahead=False,
        )

    async def load(self, progress: Progress) -> None:
        """Wait for the server, and see that it opens sessions.

        Raises:
            ServerRefused: There is no such server at the address, or not for this.
            StageFailed: It opens no session.
        """
        await self._until_up(progress)
        await self._until_warm(progress)
        self._model = await self._server.model_name()
        progress(1.0, "Ready")

    async def run(self, turn: Turn) -> AsyncIterator[Event]:
        """Have one turn answered in a session of its own.

        Yields:
            Every event but ``TurnEnd``. The whole question is recognised before the first word of
            the reply; words run ahead of the sound.

        Raises:
            TurnRefused: A setting or an input is out of bounds.
            StageFailed: The server failed on this turn, in plain words.
            ServerRefused: The server cannot serve any turn.
        """
        self._check(turn)

        async def work(emit: Emit) -> None:
            await TurnWork(turn, self._server, emit).run()

        async with aclosing(events_of(work)) as events:
            async for event in events:
                yield event

    async def hear(self, clip: AudioClip, language: str) -> str:
        """Nothing: the server recognises speech only to answer it; see ``hears_ahead``."""
        del clip, language
        return ""

    async def foresee(self, turn: Turn) -> None:
        """Nothing: the server is told of a turn when it comes."""

    async def health(self) -> None:
        """Return when the server says that it can serve.

        Raises:
            EngineFailed: It does not say so.
            ServerRefused: There is another server now.
        """
        await self._server.check_health()

    async def close(self) -> None:
        """Nothing is open between turns; each turn closes its own session."""

    def _check(self, turn: Turn) -> None:
        if turn.settings.language not in self.capabilities.languages:
            text = "The server finds out by itself which language is spoken. Choose automatic."
            raise TurnRefused("unknown_language", text, Field.SETTINGS)
        check_turn(turn, self.capabilities)
        if turn.audio is not None and turn.audio.duration_s > MAX_AUDIO_S:
            text = f"The recording has {turn.audio.duration_s:.0f} s; the server hears"
            raise TurnRefused("audio_too_long", f"{text} {MAX_AUDIO_S:.0f} s.", Field.AUDIO)

    async def _until_up(self, progress: Progress) -> None:
        started = time.monotonic()
        while True:
            seconds = time.monotonic() - started
            # How long it will take nobody knows; the share only shows that time passes.
            share = 0.5 * seconds / (seconds + 60)
            progress(share, f"Waiting for the server at {self._server.web} ({seconds:.0f} s)")
            try:
                return await self._server.check_health()
            except EngineFailed:
                await asyncio.sleep(_ASK_EVERY_S)

    async def _until_warm(self, progress: Progress) -> None:
        started = time.monotonic()
        opening = asyncio.create_task(self._open_once())
        try:
            while not opening.done():
                seconds = time.monotonic() - started
                share = 0.5 + 0.5 * seconds / (seconds + 60)
                progress(share, f"Waiting for the server's first session ({seconds:.0f} s)")
                await asyncio.wait({opening}, timeout=_ASK_EVERY_S)
            await opening
        finally:
            await stopped(opening)

    async def _open_once(self) -> None:
        nothing = Turn("load", 0)
        voice = voice_for(nothing.settings.voice, self._server.speakers)
        update = session_update(instructions_for(nothing, ""), voice, 1)
        try:
            session = await open_when_free(self._server, update, lambda: None, WARM_UP_S)
        except ServerBusy:
            return  # with conversations of others, so it is warm
        await session.end()
