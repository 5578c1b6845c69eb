"""The side door of llama.cpp: counts tokens and tells whether it is alive."""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx

from backend.engines.embedded.stages import Message
from backend.engines.failures import ChatFailed

_log = logging.getLogger(__name__)

_COUNT_TIMEOUT_S = 10.0
_CHECK_TIMEOUT_S = 3.0
_IMAGE_TOKENS = 640  # LLaVA takes 576 for a picture, later models fewer at 512 pixels
# The template's own characters, rounded up: around a message, and a system prompt of its own.
_MESSAGE_BYTES, _TEMPLATE_BYTES = 64, 256


class ChatSocket:
    """A Unix socket in a directory that only this user can enter, so that no port is open."""

    def __init__(self) -> None:
        """Make the directory; llama.cpp makes the socket at ``path``."""
        self._directory = tempfile.mkdtemp(prefix="chat-")
        self.path = str(Path(self._directory) / "chat.sock")
        self._client = httpx.Client(
            transport=httpx.HTTPTransport(uds=self.path),
            base_url="http://chat",
            timeout=_COUNT_TIMEOUT_S,
        )

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """Tokens of the whole prompt: counted, and estimated from above for pictures.

        Raises:
            ChatFailed: llama.cpp does not count them.
        """
        words, images = _without_pictures(messages)
        answer = self.post("/v1/chat/completions/input_tokens", {"messages": words})
        return int(answer["input_tokens"]) + images * _IMAGE_TOKENS

    def check(self) -> None:
        """Return when llama.cpp answers.

        Raises:
            ChatFailed: It does not.
        """
        try:
            self._client.get("/health", timeout=_CHECK_TIMEOUT_S).raise_for_status()
        except httpx.HTTPError as error:
            raise ChatFailed("The chat model does not answer.") from error

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """What llama.cpp answers to a request.

        Raises:
            ChatFailed: It refuses or does not answer.
        """
        try:
            answer = self._client.post(path, json=body)
        except httpx.HTTPError as error:
            raise ChatFailed("The chat model does not answer.") from error
        if answer.is_error:
            _log.error("llama.cpp refused %s: %s", path, answer.text)
            raise ChatFailed("The chat model could not take this in.")
        result: dict[str, Any] = answer.json()
        return result

    def close(self) -> None:
        """Close the connections and remove the directory."""
        self._client.close()
        shutil.rmtree(self._directory, ignore_errors=True)


def most_tokens(messages: Sequence[Message]) -> int:
    """More tokens than the prompt can have, told from its bytes without asking the model."""
    words, images = _without_pictures(messages)
    most = sum(len(str(message["content"]).encode()) + _MESSAGE_BYTES for message in words)
    return most + _TEMPLATE_BYTES + images * _IMAGE_TOKENS


def _without_pictures(messages: Sequence[Message]) -> tuple[list[Message], int]:
    """The messages with their words alone, and how many pictures they hold."""
    words: list[Message] = []
    images = 0
    for message in messages:
        content = message["content"]
        if not isinstance(content, str):
            images += sum(part["type"] == "image_url" for part in content)
            content = "".join(part["text"] for part in content if part["type"] == "text")
        words.append({"role": message["role"], "content": content})
    return words, images
