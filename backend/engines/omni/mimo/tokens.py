"""MiMo-Audio's control tokens, and how words are kept free of them."""

from __future__ import annotations

import re
import unicodedata

EMPTY, SOSP, EOSP = "<|empty|>", "<|sosp|>", "<|eosp|>"
SOSTM, EOT, EOSTM = "<|sostm|>", "<|eot|>", "<|eostm|>"
IM_START, IM_END = "<|im_start|>", "<|im_end|>"
THINK, END_THINK = "<think>", "</think>"

EMPTY_ID = 151667
"""``<|empty|>``: one group of sound, read or made."""

SOSTM_ID, EOT_ID = 151670, 151672

SAMPLE_RATE = 24_000
GROUP_SAMPLES = 3840
"""Samples of one group: four frames of 960."""

GROUP_S = GROUP_SAMPLES / SAMPLE_RATE
"""Seconds of one group, 0.16."""

LONGEST_NAME = 40
"""Characters between the bars of a control token, at most; the tokenizer's own have fewer."""

CONTROL = rf"<\|[^\s|<>]{{1,{LONGEST_NAME}}}\|>"
"""Pattern of every special token of the tokenizer, and of what only looks like one."""

_NOT_WORDS = re.compile(rf"{CONTROL}|</?(?:think|tool_call|tool_response)>", re.IGNORECASE)


def clean(text: str) -> str:
    """Words without any control token, and without blanks around them.

    A blank takes the place of each token. No token holds a blank, so that what stood around one
    cannot become another: ``<|em<|empty|>pty|>`` leaves no token behind.
    """
    return _NOT_WORDS.sub(" ", text).strip()


def sentence_case(text: str) -> str:
    """Text to be spoken, with a capital first letter where all of it is in small Latin letters.

    The model was trained on such text. Text all in capitals stays: it may be an abbreviation.
    """
    latin = unicodedata.name(text[:1] or " ", "").startswith("LATIN")
    return text.capitalize() if latin and text.islower() else text
