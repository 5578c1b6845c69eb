"""The prompt: what the person said and showed, as messages that fit the model's context."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from backend.contract.turn import Exchange
from backend.conversation.plain_text import plain
from backend.engines.embedded.stages import ImagePart, Message, TextPart

PICTURE_QUESTION = "Describe what you see."
"""The question when something is shown and nothing is said."""

Fits = Callable[[Sequence[Message]], bool]
"""Whether the messages leave room for the reply."""

_IMAGE_LONG_SIDE = 512
_JPEG_QUALITY = 85


def user_message(
    question: str, notes: str = "", images: Sequence[NDArray[np.uint8]] = ()
) -> Message:
    """The person's message.

    Args:
        question: What was said or typed; may be empty with notes or images.
        notes: What the eyes made of the frames.
        images: Frames of shape ``(H, W, 3)``, uint8 RGB, for a model that sees.
    """
    text = plain(question.strip()) or PICTURE_QUESTION
    if notes:
        text = f"(The camera shows this. {plain(notes)})\n{text}"
    if not images:
        return {"role": "user", "content": text}
    parts: list[TextPart | ImagePart] = [
        {"type": "image_url", "image_url": {"url": jpeg_data_uri(image)}} for image in images
    ]
    return {"role": "user", "content": [*parts, {"type": "text", "text": text}]}


def instructions(system_prompt: str, language: str) -> str:
    """The system prompt with the language that the voice can speak, where that is known."""
    rule = f"Answer questions in {language}." if language else ""
    return " ".join(part for part in (system_prompt.strip(), rule) if part)


def fitting_messages(
    system_prompt: str, history: Sequence[Exchange], question: Message, fits: Fits
) -> list[Message] | None:
    """The prompt with as much of the history's end as fits, or none when nothing does.

    A fit is asked for few times, because each may be a count in the model: fewer exchanges never
    take more room, so the whole history is tried first and then halved.
    """
    best: list[Message] | None = None
    low, high = 0, len(history)  # fewer than `low` exchanges fit, more than `high` do not
    kept = high
    while low <= high:
        messages = _messages(system_prompt, history[len(history) - kept :], question)
        if fits(messages):
            best, low = messages, kept + 1
        else:
            high = kept - 1
        kept = (low + high) // 2
    return best


def shortened_messages(system_prompt: str, question: str, fits: Fits) -> list[Message]:
    """The prompt with the end of a question that is too long, such as a long recording's."""
    words = question
    while len(words) > 1:
        words = words[-int(len(words) * 0.8) :]
        messages = _messages(system_prompt, (), user_message(words))
        if fits(messages):
            return messages
    return _messages("", (), user_message(words))


def jpeg_data_uri(image: NDArray[np.uint8]) -> str:
    """A frame of shape ``(H, W, 3)``, uint8 RGB, as a JPEG of at most 512 pixels a side."""
    import cv2

    scale = min(1.0, _IMAGE_LONG_SIDE / max(image.shape[:2]))
    size = (max(1, round(image.shape[1] * scale)), max(1, round(image.shape[0] * scale)))
    small = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    bgr = cv2.cvtColor(small, cv2.COLOR_RGB2BGR)
    _, jpeg = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
    return f"data:image/jpeg;base64,{base64.b64encode(jpeg.tobytes()).decode()}"


def _messages(system_prompt: str, history: Sequence[Exchange], question: Message) -> list[Message]:
    messages: list[Message] = []
    if system_prompt.strip():
        messages.append({"role": "system", "content": plain(system_prompt.strip())})
    for exchange in history:
        if exchange.user.strip() and exchange.assistant.strip():
            messages.append({"role": "user", "content": plain(exchange.user)})
            messages.append({"role": "assistant", "content": plain(exchange.assistant)})
    return [*messages, question]
