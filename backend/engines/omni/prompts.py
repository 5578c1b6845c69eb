"""The words of each stage's prompt, as the AURA pipeline's models were trained to read them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from backend.contract.turn import Exchange
from backend.conversation.plain_text import plain

MAX_ROUNDS = 45
"""Exchanges that a prompt holds at most: what the pipeline's duplex mode keeps in sight."""

SILENT = "<|silent|>"
"""The token with which AURA says nothing."""

SILENCE_RULE = f"Where no reply is needed, output `{SILENT}` alone."
"""What makes AURA use its token where the instructions do not speak of it."""

_ASR_LANGUAGE = "language {name}<asr_text>"


def hearing_prompt(language_name: str = "") -> str:
    """The ChatML prompt that makes Qwen3-ASR write down one clip.

    Args:
        language_name: English name of the language that is spoken, or empty to find out.
    """
    forced = _ASR_LANGUAGE.format(name=language_name) if language_name else ""
    return (
        "<|im_start|>system\n<|im_end|>\n"
        "<|im_start|>user\n<|audio_start|><|audio_pad|><|audio_end|><|im_end|>\n"
        f"<|im_start|>assistant\n{forced}"
    )


def system_with_history(system_prompt: str, history: Sequence[Exchange]) -> str:
    """The system prompt with the conversation so far, for the pipeline to put a question after.

    The pipeline closes the system turn and opens the user's around this text, so what stands here
    between the first and the last turn comes out as ChatML turns, as its duplex mode renders them.
    """
    turns = [instructions(system_prompt)]
    for exchange in history:
        turns.append(f"user\n{plain(exchange.user)}")
        turns.append(f"assistant\n{plain(exchange.assistant)}")
    return "<|im_end|>\n<|im_start|>".join(turns)


def instructions(system_prompt: str) -> str:
    """The system prompt as words, apart from AURA's silence token, with a rule for its use."""
    words = SILENT.join(plain(part) for part in system_prompt.strip().split(SILENT))
    return words if SILENT in words else f"{words} {SILENCE_RULE}".lstrip()


def fitting_history(
    history: Sequence[Exchange], count_tokens: Callable[[str], int], room: int
) -> tuple[Exchange, ...]:
    """The latest exchanges that fit.

    Args:
        history: All exchanges, oldest first.
        count_tokens: Tokens of a text.
        room: Tokens that they may take.
    """
    kept: list[Exchange] = []
    for exchange in reversed(history[-MAX_ROUNDS:]):
        # Ten tokens open and close the two turns.
        room -= count_tokens(exchange.user) + count_tokens(exchange.assistant) + 10
        if room < 0:
            break
        kept.append(exchange)
    return tuple(reversed(kept))


def heard_words(text: str) -> str:
    """The transcript in what Qwen3-ASR wrote: ``language English<asr_text>Hello.``.

    Empty while nothing but the language is there.
    """
    marker = "<asr_text>"
    if marker in text:
        return text.split(marker, 1)[1].strip()
    return "" if "language ".startswith(text[:9].lower()) else text.strip()
