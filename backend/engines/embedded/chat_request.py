"""The request that llama.cpp takes and the chunks that it answers with."""

from __future__ import annotations

import json
from collections.abc import Sequence

from backend.engines.embedded.stages import Message

_SAMPLING: dict[str, float | int] = {
    # A 135M model answers best close to greedy, and then repeats itself; DRY stops repeated
    # phrases without making the words of the question unlikely, as a repeat penalty does.
    "temperature": 0.1,
    "top_p": 0.9,
    "min_p": 0.05,
    "dry_multiplier": 0.8,
}


class ChatFailed(Exception):  # noqa: N818 - reads as the event that it reports
    """llama.cpp could not answer, with its own words on why."""


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


def read_chunk(chunk: str) -> str:
    """The words in one chunk of the stream; empty for one that holds none.

    Raises:
        ChatFailed: The chunk reports an error.
    """
    data = json.loads(chunk)
    if "error" in data:
        raise ChatFailed(str(data["error"].get("message", data["error"])))
    choices = data.get("choices") or [{}]
    return str(choices[0].get("delta", {}).get("content") or "")
