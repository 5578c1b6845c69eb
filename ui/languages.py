"""The names of languages, as those who speak them write them."""

from __future__ import annotations

from collections.abc import Collection

LANGUAGES = {
    "auto": "Automatic",
    "en": "English",
    "de": "Deutsch",
    "fr": "Français",
    "es": "Español",
    "it": "Italiano",
    "pt": "Português",
    "zh": "中文",
    "ja": "日本語",
    "ko": "한국어",
    "ru": "Русский",
    "ar": "العربية",
    "cs": "Čeština",
    "hi": "हिन्दी",
    "hu": "Magyar",
    "nl": "Nederlands",
    "pl": "Polski",
    "tr": "Türkçe",
}


def language_choices(codes: Collection[str]) -> list[tuple[str, str]]:
    """Names and codes to choose from, in the order above; a code without a name comes last."""
    unnamed = [code for code in codes if code not in LANGUAGES]
    return [(LANGUAGES[code], code) for code in LANGUAGES if code in codes] + [
        (code, code) for code in unnamed
    ]
