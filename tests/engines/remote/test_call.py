"""A call over the app's own wire, answered by a server that cannot hear ahead."""

from __future__ import annotations

import asyncio
import base64
import json

import numpy as np
from websockets.asyncio.client import connect

from backend.conversation.pcm import to_pcm16
from backend.runtime.engine_thread import EngineThread
from tests.engines.remote.duplex_server import silent
from tests.realtime.sounds import RATE, pause, speech
from tests.serving import serve_routes

WANTED = ["realtime", f"omni-session.{'d' * 32}"]


async def speak(socket, *sounds: np.ndarray) -> None:
    """Send sound as a microphone gives it."""
    sound = np.concatenate(sounds)
    for start in range(0, len(sound), RATE // 10):
        audio = base64.b64encode(to_pcm16(sound[start : start + RATE // 10])).decode()
        message = {"type": "input_audio_buffer.append", "audio": audio, "sample_rate": RATE}
        await socket.send(json.dumps(message))


async def until(socket, kind: str) -> list[dict]:
    """All messages up to the next of a kind."""
    told = []
    while not told or told[-1]["type"] != kind:
        told.append(json.loads(await asyncio.wait_for(socket.recv(), 15)))
    return told


async def test_an_utterance_is_heard_and_answered_by_the_server(engine, server):
    with serve_routes(EngineThread(lambda: engine)) as app:
        address = f"ws{app.url[4:]}/v1/realtime"
        async with connect(address, subprotocols=WANTED, max_size=None) as socket:
            while (await until(socket, "omni.engine"))[-1]["state"] != "ready":
                pass
            detection = {"turn_detection": {"type": "server_vad"}}
            await socket.send(json.dumps({"type": "session.update", "session": detection}))
            await speak(socket, pause(0.4), speech(), pause(2))
            told = await until(socket, "response.done")
            kinds = [message["type"] for message in told]
            assert told[-1]["outcome"] == "answered"
            assert "What is this?" in json.dumps(told)
            assert "response.output_audio.delta" in kinds
            assert "omni.hearing" not in kinds
            assert "omni.utterance.dropped" not in kinds
            server.script = silent
            await speak(socket, speech(), pause(2))
            assert (await until(socket, "response.done"))[-1]["outcome"] == "silent"
    said = len(base64.b64decode(server.last.received[1]["audio"])) / 2 / RATE
    assert abs(said - len(speech()) / RATE - 0.5) < 0.8
