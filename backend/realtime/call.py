"""A hands-free call: the microphone's sound goes in, turns come out, a word stops the reply."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from uuid import uuid4

import numpy as np
import soxr

from backend.contract.errors import TurnRefused
from backend.contract.media import AudioClip, Samples, VideoFrames
from backend.conversation.session import Session
from backend.media.snapshots import Snapshots, decode_snapshots
from backend.realtime.echo import ECHO_SHARE, echo_share
from backend.realtime.hearing import Foresee, Hear, Hearing
from backend.realtime.patience import UNKNOWN_S
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

MAX_UTTERANCE_S = 60.0
"""Longest utterance; what goes on after it is the next one."""

MAX_WAITING = 1000
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
            hear: What recognises speech; see ``Hearing``.
            foresee: What is told ahead; see ``Hearing``.
            post: Takes the messages for the page.
            playback: What of the replies is sounding.
            snapshots: What the camera sees.
        """
        self._session = session
        self._post = post
        self._playback = playback
        self._detector = TurnDetector(MAX_UTTERANCE_S)
        self._hearing = Hearing(session, self._detector, post, hear, foresee, self._see)
        self._resampler: tuple[int, soxr.ResampleStream] | None = None
        # With each piece, what sounded when it came: it may wait before it is looked at.
        self._sound: asyncio.Queue[tuple[Samples, Place | None]] = asyncio.Queue(MAX_WAITING)
        self._place: Place | None = None
        self._snapshots = snapshots
        self._item_id = ""
        self._echoes = False
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
        self._hearing.stop()

    async def _listen(self) -> None:
        while True:
            samples, self._place = await self._sound.get()
            try:
                for sign in self._detector.feed(samples):
                    await self._take(sign)
                self._hearing.look_again()
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
                self._hearing.look()
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
        self._hearing.begin()
        self._tell("speech_started", audio_start_ms=round(at_s * 1000))

    async def _end(self, at_s: float) -> None:
        clip = AudioClip(self._detector.utterance, SAMPLE_RATE)
        self._tell("speech_stopped", audio_end_ms=round(at_s * 1000))
        words = await self._hearing.words()
        if words is not None and not any(character.isalnum() for character in words):
            self._drop("No words were heard.")
            return
        frames = await self._see()
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

    async def _see(self) -> VideoFrames | None:
        return await asyncio.to_thread(decode_snapshots, self._snapshots.recent())

    def _drop(self, reason: str) -> None:
        self._detector.reset()
        self._hearing.stop()
        self._post({"type": "omni.utterance.dropped", "reason": reason})

    def _tell(self, what: str, **detail: int) -> None:
        kind = f"input_audio_buffer.{what}"
        self._post({"type": kind, "item_id": self._item_id, **detail})
