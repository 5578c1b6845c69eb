"""English names of the languages that people most often choose."""

from __future__ import annotations

_NAMES = {
    "ar": "Arabic",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "fa": "Persian",
    "fi": "Finnish",
    "fil": "Filipino",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "hu": "Hungarian",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "mk": "Macedonian",
    "ms": "Malay",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sv": "Swedish",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "vi": "Vietnamese",
    "yue": "Cantonese",
    "zh": "Chinese",
}


def language_name(code: str) -> str:
    """The name of a language by its ISO 639-1 code, or the code where none is known."""
    return _NAMES.get(code, code)


def language_code(name: str) -> str:
    """The ISO 639-1 code of a language by its English name in any case, or an empty string."""
    return next((code for code, known in _NAMES.items() if known.lower() == name.lower()), "")
