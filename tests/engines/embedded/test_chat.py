"""The request to llama.cpp and the reading of its stream, without a model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backend.engines.embedded.chat import LlamaChat
from backend.engines.embedded.chat_request import Chunk, build_request, read_chunk
from backend.engines.embedded.chat_socket import ChatSocket
from backend.engines.embedded.prompt import user_message
from backend.engines.failures import ChatFailed
from tests.engines.embedded.doubles import a_picture


def test_the_request_streams_keeps_the_cache_and_bounds_the_reply():
    request = json.loads(build_request([user_message("Hello")], 40))
    assert request["messages"] == [{"role": "user", "content": "Hello"}]
    assert request["max_tokens"] == 40
    assert request["stream"]
    assert request["cache_prompt"]


def test_a_picture_request_follows_the_openai_schema():
    message = user_message("What is it?", images=list(a_picture().images))
    parts = json.loads(build_request([message], 40))["messages"][0]["content"]
    assert [part["type"] for part in parts] == ["image_url", "text"]
    assert parts[0]["image_url"]["url"].startswith("data:image/jpeg;base64,")


@pytest.mark.parametrize(
    ("chunk", "words"),
    [
        ({"choices": [{"delta": {"role": "assistant", "content": None}}]}, ""),
        ({"choices": [{"delta": {"content": "Hi"}}]}, "Hi"),
        ({"choices": [{"delta": {}, "finish_reason": "stop"}]}, ""),
        ({"choices": [], "usage": {}}, ""),
    ],
)
def test_the_words_of_a_chunk_are_read(chunk, words):
    assert read_chunk(json.dumps(chunk)) == Chunk(words)


@pytest.mark.parametrize(("processed", "share"), [(0, 0.0), (32, 0.25), (128, 1.0)])
def test_the_progress_of_a_prompt_is_read(processed, share):
    progress = {"total": 128, "cache": 0, "processed": processed, "time_ms": 7}
    chunk = {"choices": [{"delta": {"content": None}}], "prompt_progress": progress}
    assert read_chunk(json.dumps(chunk)) == Chunk("", share)


def test_an_error_in_the_stream_is_raised_in_plain_words_and_logged_in_its_own(caplog):
    with pytest.raises(ChatFailed, match="could not answer") as failure:
        read_chunk(json.dumps({"error": {"code": 500, "message": "out of space"}}))
    assert "out of space" not in str(failure.value)
    assert "out of space" in caplog.text


def test_a_server_that_is_gone_is_told_in_plain_words():
    gone = ChatSocket()
    for ask in (gone.check, lambda: gone.count_tokens([user_message("Hello")])):
        with pytest.raises(ChatFailed, match=r"^The chat model does not answer\.$"):
            ask()
    gone.close()
    assert not Path(gone.path).parent.exists()


def test_a_short_prompt_fits_without_asking_the_model():
    chat = LlamaChat(find_model=None, find_projector=None, context=512, threads=1)
    assert chat.fits([user_message("Hello")], 500)


def test_a_model_that_is_not_loaded_fails_its_check_and_closes_quietly():
    chat = LlamaChat(find_model=None, find_projector=None, context=512, threads=1)
    with pytest.raises(ChatFailed):
        chat.check()
    chat.close()
