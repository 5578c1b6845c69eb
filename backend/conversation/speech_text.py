# ruff: noqa: RUF001 - signs that look alike are told apart here
"""What is said aloud, from what is written: one written sentence in, plain prose out."""

from __future__ import annotations

import re
import unicodedata

_FENCE = re.compile(r"```[^\n`]*\n?(.*?)(?:```|\Z)|~~~[^\n]*\n?(.*?)(?:~~~|\Z)", re.DOTALL)
_CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
_IMAGE = re.compile(r"!\[([^\]]*)\]\([^)\s]*(?:\s+\"[^\"]*\")?\)")
_LINK = re.compile(r"\[([^\]]+)\]\([^)\s]*(?:\s+\"[^\"]*\")?\)")
_ADDRESS = re.compile(r"<?\b(?:https?://|www\.)([^\s/<>()\"']+)[^\s<>()\"']*>?", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]*>|<!--.*?-->", re.DOTALL)
_TABLE_RULE = re.compile(r"^\s*\|?(?:\s*:?-{2,}:?\s*\|)*\s*:?-{2,}:?\s*\|?\s*$")
_LINE_START = re.compile(r"^\s*(?:#{1,6}\s+|>+\s?|[-*+•‣◦▪]\s+(?:\[[ xX]\]\s+)?)+")
_ORDINAL = re.compile(r"^\s*(\d{1,3})[.)]\s+")
_EMPHASIS = (
    re.compile(r"(\*{1,3})(?=\S)(.+?)(?<=\S)\1", re.DOTALL),
    re.compile(r"(?<!\w)(_{1,3})(?=\S)(.+?)(?<=\S)\1(?!\w)", re.DOTALL),
    re.compile(r"(~~)(?=\S)(.+?)(?<=\S)\1", re.DOTALL),
)
_BETWEEN_NUMBERS = (
    (re.compile(r"(?<=[\w)])\s+[*×]\s+(?=[\w(])|(?<=\d)[*×](?=\d)"), " times "),
    (re.compile(r"(?<=[\w)])\s+÷\s+(?=[\w(])|(?<=\d)÷(?=\d)"), " divided by "),
    (re.compile(r"(?<=[\w)])\s+\+\s+(?=[\w(])|(?<=\d)\+(?=\d)"), " plus "),
    (re.compile(r"(?<=\d)\s+[-−]\s+(?=\d)"), " minus "),
    (re.compile(r"\s*(?:==|=)\s*(?=\S)"), " equals "),
    (re.compile(r"\s*(?:≥|>=)\s*"), " at least "),
    (re.compile(r"\s*(?:≤|<=)\s*"), " at most "),
    (re.compile(r"(?<=\w)\s+<\s+(?=\w)|(?<=\d)<(?=\d)"), " less than "),
    (re.compile(r"(?<=\w)\s+>\s+(?=\w)|(?<=\d)>(?=\d)"), " greater than "),
)
_SYMBOLS = {
    "&": " and ", "%": " percent ", "°C": " degrees Celsius ", "°F": " degrees Fahrenheit ",
    "°": " degrees ", "@": " at ", "→": " to ", "⇒": ", so ", "≈": " about ", "…": "... ",
    "€": " euros ", "±": " plus or minus ", "√": " square root of ",
}  # fmt: skip
_SPOKEN_AFTER = re.compile(r"([$€£])\s?(\d[\d,]*(?:\.\d+)?)")
_CURRENCY = {"$": "dollars", "€": "euros", "£": "pounds"}
_LEFT_OVER = re.compile(r"[*#`~^|\\<>{}\[\]=+]+")
_SENTENCE_END = ".!?:;,。！？：；，"


def speakable(sentence: str) -> str:
    """Turn one written sentence, line or block into the words that a voice should say.

    Markdown, tags and pictures go; link text stays and bare addresses become their host; signs
    of arithmetic become words; names such as ``snake_case`` stay whole.

    Args:
        sentence: A whole sentence; a marker that is cut in two cannot be recognised.

    Returns:
        Plain prose on one line, or an empty string when there is nothing to say.
    """
    text = _FENCE.sub(lambda fence: f"\n{fence[1] or fence[2] or ''}\n", sentence)
    text = _CODE.sub(lambda code: code[2], text)
    text = _LINK.sub(r"\1", _IMAGE.sub(r"\1", text))
    text = _TAG.sub(" ", _ADDRESS.sub(lambda address: f" {_host(address[1])} ", text))
    text = _join_lines([_line(line) for line in text.splitlines()])
    text = _words_for_signs(text)
    text = "".join(_kept(character) for character in text)
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r"\s+([.!?,;:])", r"\1", text).strip(" -–—_")
    return text if any(character.isalnum() for character in text) else ""


def _host(address: str) -> str:
    return address.removeprefix("www.").rstrip(".").replace(".", " dot ")


def _line(line: str) -> str:
    if _TABLE_RULE.match(line) or re.fullmatch(r"\s*([-*_=]\s*){3,}", line):
        return ""
    line = _ORDINAL.sub(r"\1, ", _LINE_START.sub("", line))
    for emphasis in _EMPHASIS:
        line = emphasis.sub(r"\2", line)
    if line.count("|") >= 2:
        line = ", ".join(cell.strip() for cell in line.split("|") if cell.strip())
    return line.strip()


def _join_lines(lines: list[str]) -> str:
    """One line, with a pause where a heading, item or row ended without a stop."""
    kept = [line for line in lines if line]
    ended = [line if line[-1] in _SENTENCE_END else f"{line}." for line in kept[:-1]]
    return " ".join(ended + kept[-1:])


def _words_for_signs(text: str) -> str:
    text = _SPOKEN_AFTER.sub(lambda money: f"{money[2]} {_CURRENCY[money[1]]}", text)
    for sign, words in _BETWEEN_NUMBERS:
        text = sign.sub(words, text)
    for symbol, words in _SYMBOLS.items():
        text = text.replace(symbol, words)
    return _LEFT_OVER.sub(" ", text)


def _kept(character: str) -> str:
    """The character, or a blank for emoji, pictograms and unseen characters."""
    if character in "\u200b\u200c\u200d\ufeff\ufe0e\ufe0f\u00ad":
        return ""
    category = unicodedata.category(character)
    return " " if category in {"So", "Sk", "Sm", "Cc", "Cf", "Cn", "Co", "Cs"} else character
