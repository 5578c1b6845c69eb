"""Voices that come in through the API: form fields and a file become a draft and a clip."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fastapi import Form, UploadFile
from pydantic import ValidationError

from backend.contract.media import AudioClip
from backend.contract.voice import VoiceMode
from backend.media.audio import decode
from backend.media.limits import MediaLimits
from backend.speech_api.errors import ApiError, of_fields
from backend.voices.clips import SAMPLE_RATE
from backend.voices.preflight import kept_part
from backend.voices.voice import VoiceDraft


@dataclass(frozen=True)
class KeptPart:
    """The part of a sample that is kept, in seconds; all of it where ``end_s`` is 0."""

    start_s: Annotated[float, Form(ge=0)] = 0.0
    end_s: Annotated[float, Form(ge=0)] = 0.0


def voice_draft(
    name: str,
    consent: str,
    ref_text: str,
    style: str,
    language: str,
    *,
    x_vector_only: bool,
    kind: VoiceMode = VoiceMode.CLONE,
    speaker: str = "",
) -> VoiceDraft:
    """The draft of a voice; see ``VoiceDraft``.

    Raises:
        ApiError: A field is empty or too long.
    """
    try:
        return VoiceDraft(
            name=name,
            kind=kind,
            speaker=speaker,
            consent=consent,
            reference_text=ref_text,
            style=style,
            language=language,
            x_vector_only=x_vector_only,
        )
    except ValidationError as error:
        raise of_fields(error) from error


async def read_sample(upload: UploadFile, limits: MediaLimits) -> AudioClip:
    """The clip in a file that somebody sent.

    Raises:
        TurnRefused: It cannot be decoded; see ``backend.media.audio.decode``.
    """
    async with sample_file(upload) as path:
        return await read_sample_at(path, limits)


@asynccontextmanager
async def sample_file(upload: UploadFile) -> AsyncIterator[Path]:
    """Where a file that somebody sent lies for a while."""
    with tempfile.NamedTemporaryFile(suffix=".sample") as file:
        await asyncio.to_thread(shutil.copyfileobj, upload.file, file)
        file.flush()
        yield Path(file.name)


async def read_sample_at(path: Path, limits: MediaLimits) -> AudioClip:
    """The clip in a file that somebody sent, where it lies already.

    Raises:
        TurnRefused: It cannot be decoded; see ``backend.media.audio.decode``.
    """
    return await asyncio.to_thread(decode, path, limits, rate=SAMPLE_RATE)


def cut(clip: AudioClip, part: KeptPart) -> AudioClip:
    """The part of a clip that is kept.

    Raises:
        ApiError: There is no such part.
    """
    if not part.end_s:
        return clip
    if not part.start_s < part.end_s <= clip.duration_s + 0.1:
        text = "The part to keep lies outside the sample."
        raise ApiError(400, text, "bad_part", "end_s")
    return kept_part(clip, (part.start_s, part.end_s))
