"""The short requests that introduce a text to be spoken or a clip to be written down.

The model was trained with several wordings of each. Which one is used is chosen by its number, and
is the first where none is chosen, so that the same request always gives the same prompt.
"""

from __future__ import annotations

import re

READ_ALOUD_EN = (
    "Please read the following aloud",
    "Say these words out loud",
    "Speak this text for me",
    "Read this passage in a natural voice",
    "Please voice this text",
    "Let me hear this text",
    "Recite these lines",
    "Please say the following",
)
READ_ALOUD_ZH = (
    "请读出下面的文字",
    "把下面这段话说出来",
    "请用自然的声音念这段文字",
    "请为我朗读以下内容",
    "说出以下文字",
    "请把这段话读给我听",
    "请大声读出这段话",
    "为这段文字配上声音",
)
WRITE_DOWN = (
    "Please write down the words that are spoken here",
    "Take down this speech word for word",
    "Give me the transcript of this clip",
    "Put the spoken words into writing",
    "请写下你听到的话",
    "请逐字记录这段录音",
    "请给出这段语音的文字稿",
    "将所说的话记成文字",
)
"""English ones first, then Chinese; any of them suits a clip in either language."""

COUNT = len(READ_ALOUD_EN)
"""How many there are to choose from, of each kind."""

_HAN = re.compile(r"[\u4e00-\u9fff]")


def read_aloud(text: str, number: int = 0) -> str:
    """Request to speak ``text``: in Chinese where it has a Chinese character, else in English.

    Args:
        text: The text that will follow.
        number: Which wording, 0 to ``COUNT`` - 1.
    """
    return (READ_ALOUD_ZH if _HAN.search(text) else READ_ALOUD_EN)[number]


def write_down(number: int = 0) -> str:
    """Request to write down a clip, in wording ``number``, 0 to ``COUNT`` - 1."""
    return WRITE_DOWN[number]
