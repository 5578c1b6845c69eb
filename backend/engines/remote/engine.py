"""The engine that has a server do the work, over the network."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing

from backend.contract.engine import Capabilities, Progress
from backend.contract.events import Event
from backend.contract.media import AudioClip
from backend.contract.turn import Turn
from backend.contract.voice import VoiceControls
from backend.engines.events import Emit, events_of
from backend.engines.failures import StageFailed
from backend.engines.omni.checkpoint import STYLE_CHARS
from backend.engines.remote.arrival import until_up, until_warm
from backend.engines.remote.discovery import find_speech
from backend.engines.remote.door import check_turn
from backend.engines.remote.recital import Recital
from backend.engines.remote.server import NoHealthRoute, Server, ServerRefused
from backend.engines.remote.speech import Speech
from backend.engines.remote.turn_work import TurnWork
from backend.engines.remote.wire import SPEECH_RATE


class RemoteEngine:
    """Answers with AURA on a server, or speaks texts with a server's voices, as it offers.

    It keeps no conversation, and no connection between turns.
    """

    def __init__(self, server: Server) -> None:
        """Take the server; ``load`` waits for it."""
        self._server = server
        self._model = ""
        self._answers = True
        self._speech: Speech | None = None

    @property
    def capabilities(self) -> Capabilities:
        """What the server can do, as far as it is known from here."""
        return Capabilities(
            name="Remote",
            summary=self._summary(),
            sees_pictures=self._answers,
            languages=("auto",),
            voice=self._voice(),
            sample_rate=SPEECH_RATE,
            max_concurrent_turns=self._server.sessions,
            hears_ahead=False,
            recites=self._speech is not None,
            answers=self._answers,
        )

    async def load(self, progress: Progress) -> None:
        """Wait for the server, and find out whether it answers, speaks texts, or both.

        Raises:
            ServerRefused: There is no such server at the address, or it can do neither.
            StageFailed: It can do neither just now.
        """
        try:
            await until_up(self._server, progress)
            no_health = None
        except NoHealthRoute as refused:
            no_health = refused
        self._model = await self._server.model_name()
        self._speech = await find_speech(self._server, self._model)
        if no_health and self._speech is None:
            raise no_health
        self._answers = await self._opens_sessions(progress)
        progress(1.0, "Ready")

    async def run(self, turn: Turn) -> AsyncIterator[Event]:
        """Have one turn answered in a session of its own, or its script spoken.

        Yields:
            Every event but ``TurnEnd``. The whole question is recognised before the first word of
            the reply; words run ahead of the sound.

        Raises:
            TurnRefused: A setting or an input is out of bounds, or the server does not take it.
            StageFailed: The server failed on this turn, in plain words.
            ServerRefused: The server cannot serve any turn.
        """
        check_turn(turn, self.capabilities)

        async def work(emit: Emit) -> None:
            if turn.script and self._speech:
                await Recital(turn, self._server, self._speech, emit).run()
            else:
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
        """Return when the server says that it can serve, or answers where it says nothing of it.

        Raises:
            EngineFailed: It does not say so.
            ServerRefused: There is another server now.
        """
        try:
            await self._server.check_health()
        except NoHealthRoute:
            if self._answers:
                raise

    async def close(self) -> None:
        """Nothing is open between turns; each turn closes its own session."""

    async def _opens_sessions(self, progress: Progress) -> bool:
        try:
            await until_warm(self._server, progress)
        except (ServerRefused, StageFailed):
            if self._speech is None:
                raise
            return False
        return True

    def _voice(self) -> VoiceControls:
        # The wire of a session takes the server's named voices alone, and so do its texts.
        if self._speech and not self._answers:
            return self._speech.controls()
        return VoiceControls(speakers=self._server.speakers, style_chars=STYLE_CHARS)

    def _summary(self) -> str:
        model = f" {self._model}" if self._model else ""
        if self._answers:
            return (
                f"The model{model} on the vLLM-Omni server at {self._server.web}. It sees two"
                " pictures with each question, and may choose to stay silent."
            )
        return (
            f"Speaks texts as they are, with the model{model} on the server at"
            f" {self._server.web}. Answers nothing."
        )
