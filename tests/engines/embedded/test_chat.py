"""The request to llama.cpp and the reading of its stream, without a model."""

from __future__ import annotations

import json

import pytest

from backend.engines.embedded.chat import LlamaChat
from backend.engines.embedded.chat_request import ChatFailed, build_request, read_chunk
from backend.engines.embedded.prompt import user_message
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
    assert read_chunk(json.dumps(chunk)) == words


def test_an_error_in_the_stream_is_raised_in_its_own_words():
    with pytest.raises(ChatFailed, match="out of space"):
        read_chunk(json.dumps({"error": {"code": 500, "message": "out of space"}}))


def test_a_short_prompt_fits_without_asking_the_model():
    chat = LlamaChat(find_model=None, find_projector=None, context=512, threads=1)
    assert chat.fits([user_message("Hello")], 500)


def test_a_model_that_is_not_loaded_fails_its_check_and_closes_quietly():
    chat = LlamaChat(find_model=None, find_projector=None, context=512, threads=1)
    with pytest.raises(ChatFailed):
        chat.check()
    chat.close()
