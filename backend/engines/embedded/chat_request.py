"""The request that llama.cpp takes and the chunks that it answers with."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from backend.engines.embedded.stages import Message
from backend.engines.failures import ChatFailed

_log = logging.getLogger(__name__)

_SAMPLING: dict[str, float | int | list[str]] = {
    # A 135M model answers best close to greedy, and then repeats itself; DRY stops repeated
    # phrases without making the words of the question unlikely, as a repeat penalty does.
    "temperature": 0.1,
    "top_p": 0.9,
    "min_p": 0.05,
    "dry_multiplier": 0.8,
    # For each of these llama.cpp walks through the whole vocabulary before the first token: its
    # four defaults cost 0.1 s a turn.
    "dry_sequence_breakers": ["\n"],
}


@dataclass(frozen=True, slots=True)
class Chunk:
    """One piece of the stream.

    Attributes:
        words: The next words of the reply; empty while there are none.
        prompt_share: How much of the prompt has been read, 0 to 1, where the piece tells it.
    """

    words: str = ""
    prompt_share: float | None = None


def build_request(messages: Sequence[Message], max_tokens: int) -> str:
    """The OpenAI chat request that llama.cpp takes, as JSON."""
    return json.dumps(
        {
            "messages": list(messages),
            "max_tokens": max_tokens,
            "stream": True,
            "cache_prompt": True,
            # Reports while the prompt is read, which is where a cancelled turn can be left.
            "return_progress": True,
            **_SAMPLING,
        }
    )


def read_chunk(text: str) -> Chunk:
    """What one piece of the stream says.

    Raises:
        ChatFailed: It reports an error.
    """
    data = json.loads(text)
    if "error" in data:
        _log.error("llama.cpp reports: %s", data["error"])
        raise ChatFailed("The chat model could not answer.")
    choices = data.get("choices") or [{}]
    words = str(choices[0].get("delta", {}).get("content") or "")
    progress = data.get("prompt_progress")
    if not progress or not progress.get("total"):
        return Chunk(words)
    return Chunk(words, min(1.0, progress["processed"] / progress["total"]))
