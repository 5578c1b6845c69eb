"""``/v1/tasks/clips``: recordings that tasks are about, and those that they made."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import numpy as np
import soundfile
from fastapi import APIRouter, Depends, File, Response, UploadFile

from backend.contract.errors import Field, TurnRefused
from backend.contract.media import AudioClip
from backend.media import refusals
from backend.media.audio import decode
from backend.media.container import check_file, sound_rate
from backend.media.limits import MediaLimits
from backend.media.pauses import MAX_PIECE_S, is_quiet
from backend.media.pcm import SAMPLE_RATE
from backend.speech_api.errors import of_refusal
from backend.speech_api.guards import guarded, owner_of
from backend.speech_api.speaking import synthetic_tags
from backend.speech_api.whole_file import FileFormat, whole_file
from backend.tasks.recording import ShelfClip
from backend.tasks.shelf import ClipShelf, clip_unknown

Owner = Annotated[str, Depends(owner_of)]
Told = dict[str, object]

_FIELDS_BYTES = 10_000
_MAX_RATE = 48_000
_FULL_SCALE, _CLIPPED = 0.999, 0.001  # the share is one top in each syllable or so


def make_clip_router(shelf: ClipShelf, limits: MediaLimits) -> APIRouter:
    """The routes that take recordings in and give them out.

    Args:
        shelf: Keeps them.
        limits: Bounds of what is sent in.
    """
    router = APIRouter(
        prefix="/v1/tasks/clips", route_class=guarded(limits.max_bytes + _FIELDS_BYTES)
    )
    packing = asyncio.Lock()  # of a long reply it holds half a gigabyte

    @router.post("")
    async def keep(owner: Owner, file: Annotated[UploadFile, File()]) -> Told:
        try:
            return await asyncio.to_thread(_kept, shelf, owner, file, limits)
        except TurnRefused as refusal:
            raise of_refusal(refusal, "file") from refusal

    @router.get("/{clip_id}")
    async def clip(owner: Owner, clip_id: str) -> Response:
        found = shelf.clip(owner, clip_id)
        try:
            if not found.made_by:
                data = await asyncio.to_thread(found.path.read_bytes)
            else:
                async with packing:
                    data = await asyncio.to_thread(_marked, found)
        except FileNotFoundError as error:
            raise clip_unknown() from error
        return Response(data, media_type="audio/wav")

    return router


def _kept(shelf: ClipShelf, owner: str, file: UploadFile, limits: MediaLimits) -> Told:
    with tempfile.NamedTemporaryFile(suffix=".clip") as copy:
        shutil.copyfileobj(file.file, copy)
        copy.flush()
        clip = _decoded(Path(copy.name), limits)
    kept = shelf.keep(owner, clip)
    return {"id": kept.id, "duration_s": round(kept.duration_s, 3), "notes": _notes(clip)}


def _decoded(path: Path, limits: MediaLimits) -> AudioClip:
    """The sound at its own rate, as far as that is one that a task could make use of."""
    check_file(path, limits, Field.AUDIO)
    rate = min(sound_rate(path, Field.AUDIO), _MAX_RATE)
    return decode(path, limits, rate=rate or SAMPLE_RATE)


def _notes(clip: AudioClip) -> list[Told]:
    """What a person should know about a recording before it is used."""
    notes: list[Told] = []
    if is_quiet(clip):
        text = "This recording is very quiet. See that the microphone was on."
        notes.append({"code": "quiet", "text": text})
    if (share := _cut_off(clip)) >= _CLIPPED:
        text = f"This recording was too loud: {share:.1%} of it is cut off flat."
        notes.append({"code": "clipped", "text": text})
    if clip.duration_s > MAX_PIECE_S:
        length = refusals.in_words(clip.duration_s)
        text = f"This recording is {length} long. A transcription hears it in pieces."
        notes.append({"code": "long", "text": text})
    return notes


def _cut_off(clip: AudioClip) -> float:
    """Which share of the samples stays at full scale, where a natural top is a point."""
    full = np.abs(clip.samples) >= _FULL_SCALE
    return float((full[2:] & full[1:-1] & full[:-2]).mean())


def _marked(clip: ShelfClip) -> bytes:
    """The WAV file of what was made, which says so and carries the mark."""
    with clip.path.open("rb") as file:
        samples, rate = soundfile.read(file, dtype="float32")
    return whole_file(samples, rate, FileFormat.WAV, synthetic_tags(clip.made_by))
