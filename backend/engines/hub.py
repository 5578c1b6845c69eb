"""Models by hub name: from the cache, or from the network where they are not in it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from backend.engines.failures import ModelMissing


def snapshot(repository: str) -> Path:
    """The local folder of all files of a repository.

    Raises:
        ModelMissing: It is not in the cache, and cannot be fetched.
    """
    from huggingface_hub import snapshot_download

    with suppress(Exception):  # not cached; the network is asked only then
        return Path(snapshot_download(repository, local_files_only=True))
    try:
        return Path(snapshot_download(repository))
    except Exception as error:
        raise ModelMissing(not_available(repository)) from error


def not_available(name: str) -> str:
    """What to tell of a model that could not be had."""
    return (
        f"The model {name} is not on this machine and could not be downloaded."
        " Check the name and the network, or give a local path."
    )
