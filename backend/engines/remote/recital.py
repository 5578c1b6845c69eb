"""A text that a server speaks as it is, in as few requests as it takes whole."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Any

import httpx
import numpy as np

from backend.contract.events import ReplyText, SpeechChunk, Stage, StageStarted, StageTiming
from backend.contract.media import Samples
from backend.contract.turn import Turn
from backend.conversation.sentences import cut_all
from backend.conversation.speech_text import speakable
from backend.engines.events import Emit
from backend.engines.failures import StageFailed
from backend.engines.remote import troubles
from backend.engines.remote.server import Server
from backend.engines.remote.session import OPEN_TIMEOUT_S
from backend.engines.remote.speech import SPEECH_PATH, Speech
from backend.engines.remote.wire import SPEECH_RATE, Garbled

MAX_REQUEST_CHARS = 400
"""Longest text of one request: half a minute in English, and in Chinese far from the 163 s for
which Qwen3-TTS has codec frames. A voice keeps its manner within a request, so that fewer are
better than one for each sentence."""

_RAW = frozenset({"", "audio/pcm", "application/octet-stream"})


class Recital:
    """Has one turn's script spoken and tells of it through ``emit``."""

    def __init__(self, turn: Turn, server: Server, speech: Speech, emit: Emit) -> None:
        """Prepare the work; ``run`` does it."""
        self._turn = turn
        self._server = server
        self._speech = speech
        self._emit = emit
        self._first_s: float | None = None
        self._total_s = 0.0

    async def run(self) -> None:
        """Do all the work. Cancelling it closes the connection, at which the server stops.

        Raises:
            TurnRefused: The server does not take the text or the voice.
            StageFailed: A part could not be spoken; the rest is not, for a text with a hole in it
                is another text.
            ServerRefused: This server cannot serve at all.
        """
        turn = self._turn
        body = await asyncio.to_thread(self._speech.request, turn.settings)
        async with self._server.client(httpx.Timeout(None, connect=OPEN_TIMEOUT_S)) as client:
            for written, parts in parts_of(turn.script):
                self._emit(ReplyText(turn_id=turn.id, delta=written))
                for words in parts if turn.settings.spoken else ():
                    await self._speak(client, {**body, "input": words})
        if self._first_s is not None:
            self._emit(
                StageTiming(
                    turn_id=turn.id,
                    stage=Stage.SPEAK,
                    queue_s=0.0,
                    first_output_s=self._first_s,
                    total_s=self._total_s,
                )
            )

    async def _speak(self, client: httpx.AsyncClient, body: dict[str, Any]) -> None:
        if self._first_s is None:
            self._emit(StageStarted(turn_id=self._turn.id, stage=Stage.SPEAK))
        started, sounded = time.monotonic(), False
        try:
            async with aclosing(_sound(client, body)) as pieces:
                async for pcm in pieces:
                    if self._first_s is None:
                        self._first_s = time.monotonic() - started
                    sounded = True
                    self._emit(SpeechChunk(turn_id=self._turn.id, pcm=pcm, sample_rate=SPEECH_RATE))
        except httpx.HTTPError as error:
            raise troubles.lost_on_the_way(error, self._server) from error
        if not sounded:
            raise StageFailed("The server ended before there was any sound.")
        self._total_s += time.monotonic() - started


def parts_of(script: str) -> Iterator[tuple[str, list[str]]]:
    """A script in parts; joined, what was written is the script.

    Yields:
        What was written, and its words for one request each: usually one, none where nothing is
        to be said, and more where a block of code is too long for one.
    """
    written = ""
    for piece in [*cut_all(script), ""]:
        if written and (not piece or len(written) + len(piece) > MAX_REQUEST_CHARS):
            yield written, _requests(speakable(written))
            written = ""
        written += piece


def _requests(words: str) -> list[str]:
    pieces = [words] if len(words) <= MAX_REQUEST_CHARS else cut_all(words)
    return [piece.strip() for piece in pieces if any(map(str.isalnum, piece))]


async def _sound(client: httpx.AsyncClient, body: dict[str, Any]) -> AsyncGenerator[Samples]:
    """The sound of one request, as it comes.

    Raises:
        httpx.HTTPError: There was no answer, or not the whole of it.
        Garbled: It is not raw PCM16.
        Exception: As ``trouble_with`` has it.
    """
    async with client.stream("POST", SPEECH_PATH, json=body) as answer:
        if answer.status_code != 200:
            await answer.aread()
            raise troubles.trouble_with(answer)
        if answer.headers.get("Content-Type", "").partition(";")[0].strip().lower() not in _RAW:
            raise Garbled
        half = b""  # of a sample
        async for data in answer.aiter_bytes():
            whole = half + data
            half = whole[len(whole) // 2 * 2 :]
            if len(whole) > 1:
                samples = np.frombuffer(whole, "<i2", len(whole) // 2)
                yield samples.astype(np.float32) / np.float32(32768)
        if half:
            raise Garbled
