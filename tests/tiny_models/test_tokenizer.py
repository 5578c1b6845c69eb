"""The tiny models' tokenizer has Qwen's ids, and most of what it decodes can be spoken."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.tiny_models.tokenizer import (
    MIMO_TOKENS,
    RECOGNISER_MARKUP,
    SILENT_TOKENS,
    SPEECH_TOKENS,
    WORD_IDS,
    write_tokenizer,
)

tokenizers = pytest.importorskip("tokenizers")


def load(folder: Path, special: dict[str, int], markup: dict[str, int]):
    size = write_tokenizer(folder, special, markup)
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert tokenizer.get_vocab_size() == size
    return tokenizer


@pytest.fixture(scope="module")
def aura(tmp_path_factory):
    return load(tmp_path_factory.mktemp("aura"), SILENT_TOKENS, {})


@pytest.mark.parametrize(
    ("special", "markup"), [(SILENT_TOKENS, {}), (SPEECH_TOKENS, RECOGNISER_MARKUP)]
)
def test_control_tokens_have_their_ids(tmp_path, special, markup) -> None:
    tokenizer = load(tmp_path, special, markup)
    expected = {"<|endoftext|>": 151_643, "<|im_start|>": 151_644, "<|im_end|>": 151_645}
    expected |= {"<|video_pad|>": 151_656, "</think>": 151_668} | special | markup
    assert {token: tokenizer.token_to_id(token) for token in expected} == expected
    assert tokenizer.decode(list(special.values())) == ""
    assert tokenizer.decode(list(markup.values())) == " ".join(markup)


def test_mimo_audio_has_its_own_tokens_and_reads_reasoning_as_text(tmp_path) -> None:
    tokenizer = load(tmp_path, MIMO_TOKENS, {})
    expected = {"<|endoftext|>": 151_643, "<|im_end|>": 151_645, "<|file_sep|>": 151_664}
    expected |= MIMO_TOKENS
    assert {token: tokenizer.token_to_id(token) for token in expected} == expected
    assert tokenizer.get_vocab_size() == 151_673
    thought = tokenizer.encode("<think>\nSo.</think>\n<|sostm|>").ids
    assert [number for number in thought if number >= WORD_IDS] == [MIMO_TOKENS["<|sostm|>"]]
    assert tokenizer.decode(thought) == "<think>\nSo.</think>\n"


def test_turns_begin_as_with_qwen(aura) -> None:
    assert aura.encode("<|im_start|>assistant\n").ids == [151_644, 77_091, 198]
    assert aura.encode("<|im_end|>\n<|im_start|>user\n").ids == [151_645, 198, 151_644, 872, 198]


@pytest.mark.parametrize(
    "text", ["héllo 12, 世界 😀\n\n\tok", " What is in the picture?", "¡Ñandú!"]
)
def test_any_text_survives(aura, text: str) -> None:
    assert aura.decode(aura.encode(text).ids) == text


def test_a_random_reply_is_words(aura) -> None:
    ids = [random.Random(n).randrange(WORD_IDS) for n in range(40)]
    words = aura.decode(ids).split()
    assert len(words) >= 35
    assert all(word.strip(".,").isalpha() for word in words)
