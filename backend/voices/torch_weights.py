"""Reads the weights in a file that PyTorch wrote, without PyTorch."""

from __future__ import annotations

import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float32]

# The first pickle of a file as `torch.save` wrote it before PyTorch 1.6, torch.serialization.
_MAGIC = 0x1950A86A20F9469CFC6C


@dataclass(slots=True)
class _Storage:
    """A flat array of a known length, whose numbers stand at the end of the file."""

    count: int
    numbers: Weights = field(default_factory=lambda: np.zeros(0, np.float32))


@dataclass(frozen=True, slots=True)
class _View:
    """A tensor: where in its storage it begins, and how it is laid out, in numbers."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def read(self) -> Weights:
        last = self.offset + sum(
            (size - 1) * step for size, step in zip(self.shape, self.strides, strict=True)
        )
        if (
            not 0 <= self.offset <= last < len(self.storage.numbers)
            or min(self.strides, default=0) < 0
        ):
            raise ValueError("A tensor reaches beyond its numbers.")
        bytes_apart = [4 * step for step in self.strides]
        begin = self.storage.numbers[self.offset :]
        return np.lib.stride_tricks.as_strided(begin, self.shape, bytes_apart).copy()


def read_weights(path: Path, key: str) -> dict[str, Weights]:
    """The tensors of a model's state, by name.

    A pickle can run any code; this one may name only what a dictionary of tensors is made of.

    Args:
        path: A file that ``torch.save`` wrote, little-endian, with float32 tensors.
        key: Name of the state in the dictionary that was saved, such as ``model_state``.

    Returns:
        Arrays of the tensors' own shapes, float32.

    Raises:
        pickle.UnpicklingError: The file is of another format, or names anything else.
        ValueError: A tensor reaches beyond its numbers, or the file ends before they do.
        KeyError: Nothing was saved under ``key``.
    """
    saved = (_read_zip if zipfile.is_zipfile(path) else _read_stream)(path)
    return {name: view.read() for name, view in saved[key].items()}


def _read_zip(path: Path) -> Any:  # noqa: ANN401 - as pickle.load
    """What PyTorch saved since 1.6: a zip with a pickle, and a file for each storage."""
    storages: dict[str, _Storage] = {}
    with zipfile.ZipFile(path) as archive:
        folder = archive.namelist()[0].partition("/")[0]
        with archive.open(f"{folder}/data.pkl") as file:
            saved = _load(file, storages)
        for name, storage in storages.items():
            _fill(storage, archive.read(f"{folder}/data/{name}"))
    return saved


def _read_stream(path: Path) -> Any:  # noqa: ANN401 - as pickle.load
    """What PyTorch saved before 1.6: pickles, one after the other, and then the numbers."""
    storages: dict[str, _Storage] = {}
    with path.open("rb") as file:
        if _load(file, storages) != _MAGIC:
            raise pickle.UnpicklingError(f"{path.name} is of no format of PyTorch's.")
        _load(file, storages)  # version of the protocol
        _load(file, storages)  # sizes of the types on the machine that wrote it
        saved = _load(file, storages)
        for name in _load(file, storages):
            count = int.from_bytes(file.read(8), "little")
            _fill(storages[name], file.read(4 * count))
    return saved


def _fill(storage: _Storage, data: bytes) -> None:
    if len(data) != 4 * storage.count:
        raise ValueError("The file ends before its numbers do.")
    storage.numbers = np.frombuffer(data, "<f4")


def _load(file: IO[bytes], storages: dict[str, _Storage]) -> Any:  # noqa: ANN401 - as pickle.load
    return _Unpickler(file, storages).load()


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: IO[bytes], storages: dict[str, _Storage]) -> None:
        super().__init__(file)
        self._storages = storages

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 - as its base
        allowed: dict[tuple[str, str], Callable[..., Any]] = {
            ("collections", "OrderedDict"): OrderedDict,
            ("torch._utils", "_rebuild_tensor_v2"): _rebuild,
            ("torch", "FloatStorage"): _Storage,
        }
        if (module, name) not in allowed:
            raise pickle.UnpicklingError(f"{module}.{name} has no place among weights.")
        return allowed[module, name]

    def persistent_load(self, pid: Any) -> _Storage:  # noqa: ANN401 - as its base
        kind, storage_type, name, _device, count, *_ = pid
        if kind != "storage" or storage_type is not _Storage:
            raise pickle.UnpicklingError("Only float32 tensors are read.")
        return self._storages.setdefault(name, _Storage(count))


def _rebuild(
    storage: _Storage, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *_: object
) -> _View:
    return _View(storage, offset, shape, strides)
