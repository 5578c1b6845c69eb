"""What all named endpoints share: refusals in plain words, and files in and out."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import gradio as gr
from gradio.utils import get_upload_folder
from gradio_client.utils import is_file_obj_with_meta
from pydantic import ValidationError

from backend.contract.errors import TurnRefused
from backend.speech_api.errors import ApiError, of_fields
from backend.speech_api.guards import refuse_other_pages
from backend.voices.refusals import VoiceRefused

Told = dict[str, Any]
P = ParamSpec("P")
R = TypeVar("R")


def plainly(endpoint: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
    """The endpoint for our own page and for programs, with what is refused in plain words."""

    @wraps(endpoint)
    async def answer(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            refuse_other_pages(args[0])
            return await endpoint(*args, **kwargs)
        except ValidationError as error:
            raise _told(of_fields(error)) from error
        except (ApiError, TurnRefused, VoiceRefused, ConnectionAbortedError) as error:
            raise _told(error) from error

    return answer


def sent_file(file: Told, what: str) -> Path:
    """Where an upload lies; Gradio has made sure that what says to be a file is an upload.

    Raises:
        ApiError: It is something else. ``what`` names the file that was to be sent.
    """
    if not is_file_obj_with_meta(file):
        text = f"Send the {what} as a file: handle_file('{what}')."
        raise ApiError(400, text, "no_file")
    return Path(file["path"])


def file_to_send(data: bytes, name: str) -> Told:
    """What an endpoint answers for a file: Gradio serves it, and sweeps it away. Blocks."""
    Path(get_upload_folder()).mkdir(parents=True, exist_ok=True)
    path = Path(tempfile.mkdtemp(dir=get_upload_folder())) / name
    path.write_bytes(data)
    told: Told = gr.FileData(path=str(path), orig_name=name).model_dump()
    return told


def _told(error: Exception) -> gr.Error:
    return gr.Error(str(error) or "The sound broke off before its end.", print_exception=False)
