"""Asking a server what it speaks texts with."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx

from backend.engines.omni.checkpoint import PIPELINE_SPEAKER
from backend.engines.remote.server import Server
from backend.engines.remote.session import OPEN_TIMEOUT_S
from backend.engines.remote.speech import SPEECH_PATH, Speech
from backend.engines.remote.troubles import lost_on_the_way, trouble_with, words_in

_NOT_HERE = frozenset({404, 405, 501})
_KIND_TOLD = re.compile(r"Qwen3-TTS (Base|CustomVoice|VoiceDesign) checkpoint")
_KIND_IN_NAME = re.compile(r"Qwen3-TTS\b.*-(Base|CustomVoice|VoiceDesign)$")
_PLACEHOLDER = "default"  # among vLLM-Omni's voices it stands for none of them


async def find_speech(server: Server, model: str) -> Speech | None:
    """Ask the server what it speaks texts with; none where it speaks none.

    Args:
        server: The server.
        model: Name of its model, or empty.

    Raises:
        ServerRefused: It asks for another key.
        StageFailed: It does not answer, or cannot just now.
    """
    try:
        async with server.client(OPEN_TIMEOUT_S) as client:
            kind = await _kind(client, model)
            if kind is None:
                return None
            speakers = server.speakers or await _voices(client)
    except httpx.RemoteProtocolError:
        return None  # it knows WebSockets alone
    except httpx.HTTPError as error:
        raise lost_on_the_way(error, server) from error
    return Speech(model, kind, speakers)


async def _kind(client: httpx.AsyncClient, model: str) -> str | None:
    """As ``Speech.kind``, or none without a speech route. Nothing is spoken: there are no words."""
    for guess in ("VoiceDesign", "Base"):
        body = {"input": " ", "task_type": guess, "stream_format": "audio"}
        body |= {"response_format": "pcm"} | ({"model": model} if model else {})
        async with client.stream("POST", SPEECH_PATH, json=body) as answer:
            if answer.status_code in _NOT_HERE:
                return None
            if answer.is_success:
                continue
            await answer.aread()
        # One that fails at a text without words may well speak others.
        if answer.status_code in {401, 403} or answer.status_code > 500:
            raise trouble_with(answer)
        # A Qwen3-TTS that is another one says which; one that is this says that words are missing.
        if told := _KIND_TOLD.search(words_in(answer)):
            return told[1]
    named = _KIND_IN_NAME.search(model)
    return named[1] if named else ""


async def _voices(client: httpx.AsyncClient) -> tuple[str, ...]:
    """Names of the server's voices, as far as it tells; not those that others have left there."""
    answer = await client.get("/v1/audio/voices")
    try:
        told = answer.json() if answer.is_success else {}
    except ValueError:
        told = {}
    if not isinstance(told, dict):
        return ()
    left = {name.lower() for name in _names(told.get("uploaded_voices"))}
    names = [name for name in _names(told.get("voices")) if name.lower() not in left]
    names = [name for name in names if name.lower() != _PLACEHOLDER]
    return tuple(sorted(names, key=lambda name: name.lower() != PIPELINE_SPEAKER))


def _names(voices: object) -> Iterator[str]:
    for voice in voices if isinstance(voices, list) else ():
        name = (voice.get("id") or voice.get("name")) if isinstance(voice, dict) else voice
        if isinstance(name, str) and name.strip():
            yield name
