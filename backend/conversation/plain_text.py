"""Words in which no chat template finds anything but words."""

from __future__ import annotations

import re

# Shapes of the control tokens of common chat templates: <|im_end|>, </s>, <start_of_turn>,
# <__media__>, [INST]. A blank after the opening sign leaves every word and ends the token.
_CONTROL_TOKEN = re.compile(r"<(?=[^\s<>][^<>\n]{0,80}>)|\[(?=/?[A-Za-z_]{2,30}\])")


def plain(text: str) -> str:
    """Text in which no chat template finds a control token; all words stay."""
    return _CONTROL_TOKEN.sub(lambda sign: f"{sign[0]} ", text)
