"""End-of-turn decisions over the wire in real time, and noise through the turn detector."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import Callable

import numpy as np
from websockets.asyncio.client import ClientConnection, connect

from backend.conversation.pcm import to_pcm16
from backend.realtime.call import MAX_UTTERANCE_S
from backend.realtime.turn_detector import MaybeSpeech, SpeechStarted, TurnDetector
from bench.said import CASES, Said, Speaker
from tests.realtime.sounds import RATE, coughs, keyboard, music

PIECE_S = 0.05
SETTLE_S = 3.0
NOISES: tuple[Callable[[float], np.ndarray], ...] = (keyboard, coughs, music)


def decide_cases(url: str, speaker: Speaker) -> list[dict[str, object]]:
    """Say every case in a call and see how often, and how late, it was taken for finished."""
    return asyncio.run(_decide_cases(url, speaker))


def sit_in_noise(seconds: float) -> dict[str, dict[str, float | int]]:
    """Feed the turn detector with noise; how often it lowered a reply, or stopped it, for each."""
    found = {}
    for noise in NOISES:
        detector, sound = TurnDetector(MAX_UTTERANCE_S), noise(seconds / len(NOISES))
        counts = {"seconds": round(len(sound) / RATE), "lowered": 0, "stopped": 0}
        for start in range(0, len(sound), RATE // 20):
            for sign in detector.feed(sound[start : start + RATE // 20]):
                if isinstance(sign, SpeechStarted):
                    counts["stopped"] += 1
                    detector.reset()
                counts["lowered"] += isinstance(sign, MaybeSpeech) and sign.speaking
        found[noise.__name__] = counts
    return found


async def _decide_cases(url: str, speaker: Speaker) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    address = f"{url.replace('http', 'ws')}/v1/realtime"
    async with connect(address, subprotocols=["realtime"], max_size=None) as socket:  # type: ignore[list-item]
        update = {"type": "session.update", "session": {"turn_detection": {"type": "server_vad"}}}
        await socket.send(json.dumps(update))
        for parts in CASES:
            said = speaker.say(*parts)
            stops = await _stops_of(socket, said)
            found.append(
                {
                    "said": " … ".join(parts),
                    "cut_short": sum(bool(stop < 0) for stop in stops),
                    "missed": not stops,
                    "decided_ms": round(1000 * float(stops[-1])) if stops else None,
                }
            )
    return found


async def _stops_of(socket: ClientConnection, said: Said) -> list[float]:
    """When the app took it for finished, in seconds after its end; below zero is too early."""
    begun, stops = time.monotonic(), []

    async def listen() -> None:
        async for text in socket:
            message = json.loads(text)
            if message["type"] == "input_audio_buffer.speech_stopped":
                stops.append(time.monotonic() - begun - said.ends_s)
            if message["type"] == "response.created":  # the answers are not what is measured
                await socket.send(json.dumps({"type": "response.cancel"}))

    listening = asyncio.create_task(listen())
    quiet = np.zeros(int(SETTLE_S * said.rate), np.float32)
    sound = to_pcm16(np.concatenate((said.samples, quiet)))
    step = 2 * int(PIECE_S * said.rate)
    for number, start in enumerate(range(0, len(sound), step)):
        await asyncio.sleep(max(0.0, begun + number * PIECE_S - time.monotonic()))
        audio = base64.b64encode(sound[start : start + step]).decode()
        piece = {"type": "input_audio_buffer.append", "audio": audio, "sample_rate": said.rate}
        await socket.send(json.dumps(piece))
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
    return stops
