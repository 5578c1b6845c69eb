"""A hands-free call: the microphone's sound goes in, turns come out, a word stops the reply."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from uuid import uuid4

import numpy as np
import soxr

from backend.contract.errors import EngineFailed, TurnRefused
from backend.contract.media import AudioClip, Samples
from backend.contract.turn import Turn
from backend.conversation.session import Session
from backend.media.snapshots import Snapshots, decode_snapshots
from backend.realtime.echo import ECHO_SHARE, echo_share
from backend.realtime.patience import UNKNOWN_S, patience_s
from backend.realtime.playback import Place, Playback
from backend.realtime.protocol import Message
from backend.realtime.turn_detector import (
    MaybeSpeech,
    Sign,
    SpeechEnded,
    SpeechPaused,
    SpeechResumed,
    SpeechStarted,
    TurnDetector,
)
from backend.realtime.voice_activity import SAMPLE_RATE

log = logging.getLogger(__name__)

Hear = Callable[[AudioClip, str], Awaitable[str | None]]
Foresee = Callable[[Turn], Awaitable[None]]

MAX_UTTERANCE_S = 60.0
"""Longest utterance; what goes on after it is the next one."""

PARTIAL_EVERY_S = 1.0
"""Seconds of new sound after which the words so far are looked for again."""

MAX_WAITING = 500
"""Pieces of sound that may wait to be looked at, some 20 s of them."""


class Call:
    """Listens to one microphone on behalf of one session, on the web server's loop."""

    def __init__(
        self,
        session: Session,
        hear: Hear,
        foresee: Foresee,
        post: Callable[[Message], None],
        playback: Playback,
        snapshots: Snapshots,
    ) -> None:
        """Begin to listen.

        Args:
            session: Whose turns are made.
            hear: Recognises the words of a clip in a language; may raise anything. None where the
                engine recognises speech only to answer it.
            foresee: Told what will probably be asked; may raise anything.
            post: Takes the messages for the page.
            playback: What of the replies is sounding.
            snapshots: What the camera sees.
        """
        self._session = session
        self._hear = hear
        self._foresee = foresee
        self._post = post
        self._playback = playback
        self._detector = TurnDetector(MAX_UTTERANCE_S)
        self._resampler: tuple[int, soxr.ResampleStream] | None = None
        # With each piece, what sounded when it came: it may wait before it is looked at.
        self._sound: asyncio.Queue[tuple[Samples, Place | None]] = asyncio.Queue(MAX_WAITING)
        self._place: Place | None = None
        self._snapshots = snapshots
        self._item_id = ""
        self._echoes = False
        self._hearing: asyncio.Task[str | None] | None = None
        self._heard_samples = 0
        self._task = asyncio.create_task(self._listen())

    def feed(self, pcm16: bytes, sample_rate: int) -> None:
        """Take the microphone's next sound, mono PCM16.

        Raises:
            ValueError: more comes than can be looked at.
        """
        if self._resampler is None or self._resampler[0] != sample_rate:
            stream = soxr.ResampleStream(sample_rate, SAMPLE_RATE, 1, dtype="float32")
            self._resampler = sample_rate, stream
        samples = np.frombuffer(pcm16, "<i2").astype(np.float32) / 32768
        try:
            heard = self._resampler[1].resample_chunk(samples)
            self._sound.put_nowait((heard, self._playback.now))
        except asyncio.QueueFull as error:
            raise ValueError("sound comes faster than it can be heard") from error

    @property
    def person_speaks(self) -> bool:
        """Whether the person is in the middle of an utterance."""
        return self._detector.said_samples > 0

    def close(self) -> None:
        """Stop listening; an utterance under way is dropped."""
        self._task.cancel()
        self._stop_hearing()

    async def _listen(self) -> None:
        while True:
            samples, self._place = await self._sound.get()
            try:
                for sign in self._detector.feed(samples):
                    await self._take(sign)
                self._hear_more()
            except Exception:
                log.exception("a call of session %s stumbled", self._session.id[:8])
                self._drop("This could not be heard. Please say it again.")

    async def _take(self, sign: Sign) -> None:
        match sign:
            case MaybeSpeech(speaking=speaking):
                if speaking and self._echoes and self._playback.sounding:
                    return  # or a reply that hears itself would fall silent again and again
                self._post({"type": "omni.speech.maybe", "speaking": speaking})
            case SpeechStarted(at_s=at_s):
                await self._start(at_s)
            case SpeechPaused():
                self._stop_hearing()
                self._start_hearing()
            case SpeechResumed():
                self._detector.patience_s = UNKNOWN_S
            case SpeechEnded(at_s=at_s):
                await self._end(at_s)

    async def _start(self, at_s: float) -> None:
        said = self._playback.around(self._place)
        share = await asyncio.to_thread(echo_share, self._detector.recent, said)
        if share >= ECHO_SHARE:
            self._echoes = True
            self._detector.reset()
            self._post({"type": "omni.speech.maybe", "speaking": False})
            return
        self._echoes = False
        if self._session.under_way:
            self._session.interrupt(by_speech=True)
        self._item_id = uuid4().hex
        self._heard_samples = 0
        self._tell("speech_started", audio_start_ms=round(at_s * 1000))

    async def _end(self, at_s: float) -> None:
        said = self._detector.utterance
        if self._hearing is None or not self._detector.paused:  # too long, cut while speaking
            self._stop_hearing()
            self._start_hearing()
        hearing, self._hearing = self._hearing, None
        self._detector.reset()
        self._tell("speech_stopped", audio_end_ms=round(at_s * 1000))
        assert hearing is not None  # noqa: S101 - started above
        await self._ask(AudioClip(said, SAMPLE_RATE), hearing)

    async def _ask(self, clip: AudioClip, hearing: asyncio.Task[str | None]) -> None:
        try:
            words = await hearing
        except Exception as error:  # the turn itself says what is wrong with the engine
            if not isinstance(error, EngineFailed):
                log.exception("an utterance could not be recognised ahead of its turn")
            words = None
        else:
            if words is not None and not any(character.isalnum() for character in words):
                self._drop("No words were heard.")
                return
        frames = await asyncio.to_thread(decode_snapshots, self._snapshots.recent())
        self._tell("committed")
        attachments = (f"Spoken, {clip.duration_s:.1f} s",)
        try:
            self._session.ask(
                audio=clip,
                heard=words or "",
                frames=frames,
                attachments=attachments,
                item_id=self._item_id,
            )
        except TurnRefused as refusal:
            self._drop(refusal.message)

    def _hear_more(self) -> None:
        """Look for the words so far, every second, while the person speaks."""
        idle = self._hearing is None or self._hearing.done()
        new = self._detector.said_samples - self._heard_samples
        if idle and not self._detector.paused and new >= PARTIAL_EVERY_S * SAMPLE_RATE:
            self._start_hearing()

    def _start_hearing(self) -> None:
        said = self._detector.utterance
        self._heard_samples = len(said)
        self._hearing = asyncio.create_task(self._words(AudioClip(said, SAMPLE_RATE)))
        self._hearing.add_done_callback(_look_at)

    def _stop_hearing(self) -> None:
        if self._hearing is not None:
            self._hearing.cancel()
            self._hearing = None

    async def _words(self, clip: AudioClip) -> str | None:
        words = await self._hear(clip, self._session.settings.language)
        if words is None:
            return None
        self._post({"type": "omni.hearing", "transcript": words})
        if self._detector.paused:
            self._detector.patience_s = patience_s(words)
        elif words and not self._session.under_way:
            await self._foresee(self._session.next_turn(words))
        return words

    def _drop(self, reason: str) -> None:
        self._detector.reset()
        self._stop_hearing()
        self._post({"type": "omni.utterance.dropped", "reason": reason})

    def _tell(self, what: str, **detail: int) -> None:
        kind = f"input_audio_buffer.{what}"
        self._post({"type": kind, "item_id": self._item_id, **detail})


def _look_at(task: asyncio.Task[str | None]) -> None:
    """Keep asyncio from complaining of a failure that nobody waits for."""
    if not task.cancelled():
        task.exception()
