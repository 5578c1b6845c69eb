"""``/v1/audio/takes``: what has been spoken, as a file of another format, and how good it is."""

from __future__ import annotations

import asyncio
from typing import Annotated, BinaryIO

import soundfile
from fastapi import APIRouter, Depends, File, Form, Request, Response, UploadFile

from backend.contract.media import AudioClip
from backend.engines.ears import Ears
from backend.media.limits import MediaLimits
from backend.speech_api.errors import ApiError
from backend.speech_api.guards import guarded, owner_of
from backend.speech_api.judging import LONGEST_S, Judge
from backend.speech_api.leaving import while_listening
from backend.speech_api.speaking import synthetic_tags
from backend.speech_api.uploads import read_sample
from backend.speech_api.whole_file import FileFormat, whole_file
from backend.voices.library import VoiceLibrary

Owner = Annotated[str, Depends(owner_of)]
TakeFile = Annotated[UploadFile, File()]
Words = Annotated[str, Form(alias="input", min_length=1)]

_LONGEST_FILE_S = 1800  # a text of 20,000 characters takes some 1400 s
_FILE_BYTES = _LONGEST_FILE_S * 48_000 + 100_000  # the app's own takes are PCM16 at 24 kHz


def make_take_router(ears: Ears, library: VoiceLibrary, max_chars: int) -> APIRouter:
    """The routes that take in what the speech route has made.

    Args:
        ears: Hear what is said in a take, where they can.
        library: The kept voices, which a take is compared with.
        max_chars: Longest text of a take, in characters.
    """
    router = APIRouter(prefix="/v1/audio/takes", route_class=guarded(_FILE_BYTES + 12 * max_chars))
    judge = Judge(ears)
    packing = asyncio.Lock()  # of a long take it holds half a gigabyte
    judged = MediaLimits(max_audio_s=LONGEST_S, max_video_s=LONGEST_S, max_bytes=_FILE_BYTES)

    @router.post("/file")
    async def file(take: TakeFile, response_format: Annotated[FileFormat, Form()]) -> Response:
        async with packing:
            data = await asyncio.to_thread(_packed, take.file, response_format)
        return Response(data, media_type=response_format.media_type)

    @router.post("/quality")
    async def quality(
        request: Request,
        owner: Owner,
        take: TakeFile,
        words: Words,
        voice: Annotated[str, Form()] = "",
    ) -> dict[str, object]:
        if len(words) > max_chars:
            text = f"The input has {len(words):,} characters; the limit is {max_chars:,}."
            raise ApiError(400, text, "text_too_long", "input")
        clip = await read_sample(take, judged)
        reference = await asyncio.to_thread(_recording, library, owner, voice)
        return await while_listening(request, judge.judge(clip, words, reference))

    return router


def _recording(library: VoiceLibrary, owner: str, voice_id: str) -> AudioClip | None:
    """What a kept voice was copied from; none of the engine's own voices was."""
    kept = next((one for one in library.voices(owner) if one.id == voice_id), None)
    return library.clip(kept) if kept else None


def _packed(file: BinaryIO, kind: FileFormat) -> bytes:
    """A take as a file of another format, with its notes.

    Raises:
        ApiError: It is no take of the app's: a WAV of mono PCM16, of half an hour at most.
    """
    try:
        with soundfile.SoundFile(file) as take:
            if (take.format, take.subtype, take.channels) != ("WAV", "PCM_16", 1):
                raise ApiError(400, "A take is a WAV file of mono PCM16.", "not_a_take", "take")
            if not 8_000 <= take.samplerate <= 48_000:
                raise ApiError(400, "A take has 8 to 48 kHz.", "not_a_take", "take")
            tags = synthetic_tags(take.artist) | ({"date": take.date} if take.date else {})
            return whole_file(take.read(dtype="float32"), take.samplerate, kind, tags)
    except soundfile.LibsndfileError as error:
        raise ApiError(400, "This take cannot be read.", "not_a_take", "take") from error
