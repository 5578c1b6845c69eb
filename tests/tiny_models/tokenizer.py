"""A tokenizer with the ids of Qwen's, in which every id below the control tokens is a word."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from tests.tiny_models.files import write_json

WORD_IDS = 151_643
"""Ids below this are ordinary text; the control tokens follow."""

# From 151643 on; those with a bar are control tokens, which never appear in a reply's text.
_CONTROL = (
    "<|endoftext|> <|im_start|> <|im_end|> <|object_ref_start|> <|object_ref_end|> <|box_start|>"
    " <|box_end|> <|quad_start|> <|quad_end|> <|vision_start|> <|vision_end|> <|vision_pad|>"
    " <|image_pad|> <|video_pad|>"
).split()
_MARKUP = (
    "<tool_call> </tool_call> <|fim_prefix|> <|fim_middle|> <|fim_suffix|> <|fim_pad|>"
    " <|repo_name|> <|file_sep|> <tool_response> </tool_response> <think> </think>"
).split()

SPEECH_TOKENS = {
    "<|audio_start|>": 151_669,
    "<|audio_end|>": 151_670,
    "<tts_pad>": 151_671,
    "<tts_text_bos>": 151_672,
    "<tts_text_eod>": 151_673,
    "<tts_text_bos_single>": 151_674,
    "<|audio_pad|>": 151_676,
}
"""What recognition and speech add to Qwen's tokens."""

RECOGNISER_MARKUP = {"<asr_text>": 151_704}
"""What recognition writes between the language and the words."""

SILENT_TOKENS = {"<|silent|>": 151_669}
"""What AURA adds to Qwen's tokens."""

MIMO_TOKENS = {
    "<|sosp|>": 151_665,
    "<|eosp|>": 151_666,
    "<|empty|>": 151_667,
    "<|Human|>": 151_668,
    "<|SpeechLM|>": 151_669,
    "<|sostm|>": 151_670,
    "<|eostm|>": 151_671,
    "<|eot|>": 151_672,
}
"""What MiMo-Audio adds to the tokens of an older Qwen, to which reasoning was ordinary text."""

# vLLM-Omni counts on some of these ids; the others make the roles of a prompt one token each.
_FIXED = {"ĊĊ": 271, "user": 872, "system": 8_948, "assistant": 77_091, "language": 11_528}

_COMMON = (
    "the be to of and a in that have it for not on with he as you do at this but his by from they"
    " we say her she or an will my one all would there their what so up out if about who get which"
    " go me when make can like time no just him know take people into year your good some could"
    " them see other than then now look only come its over think also back after use two how our"
    " work first well way even new want because any these give day most us is are was were has had"
    " respond answer question hello yes please here receiving live video stream frame present"
    " message context output otherwise visual needed response based either silence"
).split()

# Qwen's: contractions, words with one mark before them, single digits, marks, line ends, spaces.
_PIECES = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)

_BYTES: dict[str, Any] = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False}


def write_tokenizer(folder: Path, special: dict[str, int], markup: dict[str, int]) -> int:
    """Write ``tokenizer.json`` and ``tokenizer_config.json``.

    Args:
        folder: Where to.
        special: Control tokens beyond Qwen's, with their ids; they take the place of Qwen's own.
        markup: Further tokens that a reply's text may show.

    Returns:
        The number of ids.
    """
    control = {token: WORD_IDS + n for n, token in enumerate(_CONTROL)} | special
    shown = {token: WORD_IDS + len(_CONTROL) + n for n, token in enumerate(_MARKUP)} | markup
    named = {number: token for token, number in (shown | control).items()}
    size = max(named) + 1
    write_json(
        folder / "tokenizer.json",
        {
            "version": "1.0",
            "added_tokens": [
                # A hole would shift every id after it.
                _added_token(named.get(n, f"<|unused_{n}|>"), n, special=named.get(n) not in shown)
                for n in range(WORD_IDS, size)
            ],
            "normalizer": {"type": "NFC"},
            "pre_tokenizer": {
                "type": "Sequence",
                "pretokenizers": [
                    {
                        "type": "Split",
                        "pattern": {"Regex": _PIECES},
                        "behavior": "Isolated",
                        "invert": False,
                    },
                    _BYTES | {"use_regex": False},
                ],
            },
            "decoder": _BYTES,
            # Pieces in the vocabulary are taken whole, the others fall apart into bytes.
            "model": {"type": "BPE", "ignore_merges": True, "vocab": _vocabulary(), "merges": []},
        },
    )
    names = {
        "audio_token": "<|audio_pad|>",
        "audio_bos_token": "<|audio_start|>",
        "audio_eos_token": "<|audio_end|>",
        "image_token": "<|image_pad|>",
        "video_token": "<|video_pad|>",
        "vision_start_token": "<|vision_start|>",
        "vision_end_token": "<|vision_end|>",
    }
    write_json(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": 131_072,
            "clean_up_tokenization_spaces": False,
            "eos_token": "<|im_end|>",
            "pad_token": "<|endoftext|>",
            "extra_special_tokens": {k: v for k, v in names.items() if v in control},
        },
    )
    return size


def _added_token(token: str, number: int, *, special: bool) -> dict[str, object]:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": number, "content": token, "special": special, **flags}


@cache
def _vocabulary() -> dict[str, int]:
    """Bytes first, as in every byte-level vocabulary, then words; ``Ġ`` is a space before."""
    vocabulary = {symbol: number for number, symbol in enumerate(_byte_symbols())} | _FIXED
    taken = set(vocabulary.values())
    free = (number for number in range(WORD_IDS) if number not in taken)
    new_words = (word for word in dict.fromkeys(_words()) if word not in vocabulary)
    return vocabulary | {word: number for number, word in zip(free, new_words, strict=False)}


def _words() -> Iterator[str]:
    """Everyday words as they stand in a sentence, then made-up ones, some ending a clause."""
    for word in _COMMON:
        yield from (f"Ġ{word}", word, f"Ġ{word.title()}", word.title())
    syllables = [c + v for c, v in product("bdfghjklmnprstvwz", "aeiou")]
    for length in (2, 3):
        for n, parts in enumerate(product(syllables, repeat=length)):
            yield "Ġ" + "".join(parts) + ("." if n % 12 == 0 else "," if n % 17 == 0 else "")


def _byte_symbols() -> list[str]:
    """The letter that stands for each byte: itself if printable, else one from 256 on."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return [chr(byte) for byte in printable] + [chr(256 + n) for n in range(len(others))]
