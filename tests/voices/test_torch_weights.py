"""Weights are read from PyTorch's file, and nothing else in it is run."""

from __future__ import annotations

import io
import os
import pickle
import sys
import zipfile
from collections import OrderedDict
from types import ModuleType

import numpy as np
import pytest

from backend.voices.torch_weights import read_weights

MAGIC = 0x1950A86A20F9469CFC6C
NUMBERS = np.arange(12, dtype=np.float32)


class FloatStorage:
    """Stands for PyTorch's class of this name."""


def _rebuild_tensor_v2(*layout):
    """Stands for PyTorch's function of this name."""


class Tensor:
    """Twelve numbers in one storage, seen in some way."""

    def __init__(self, offset: int, shape: tuple, strides: tuple):
        self.layout = offset, shape, strides

    def __reduce__(self):
        return _rebuild_tensor_v2, (NUMBERS, *self.layout, False, OrderedDict())


class Saver(pickle.Pickler):
    def persistent_id(self, obj):
        return ("storage", FloatStorage, "7", "cuda:0", 12, None) if obj is NUMBERS else None


@pytest.fixture
def save(tmp_path, monkeypatch):
    """Writes a file as PyTorch did before 1.6."""
    torch, utils = ModuleType("torch"), ModuleType("torch._utils")
    torch.FloatStorage, utils._rebuild_tensor_v2 = FloatStorage, _rebuild_tensor_v2
    monkeypatch.setattr(FloatStorage, "__module__", "torch")
    monkeypatch.setattr(_rebuild_tensor_v2, "__module__", "torch._utils")
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch._utils", utils)

    def write(state, *, magic=MAGIC, numbers=NUMBERS):
        path = tmp_path / "weights.pt"
        with path.open("wb") as file:
            for part in (magic, 1001, {"little_endian": True}, {"step": 3, "state": state}, ["7"]):
                Saver(file, 2).dump(part)
            file.write(len(NUMBERS).to_bytes(8, "little") + numbers.tobytes())
        return path

    return write


@pytest.fixture
def save_zip(save, tmp_path):
    """Writes a file as PyTorch does since 1.6."""

    def write(state, *, numbers=NUMBERS):
        pickled = io.BytesIO()
        Saver(pickled, 2).dump({"step": 3, "state": state})
        path = tmp_path / "weights.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("archive/data.pkl", pickled.getvalue())
            archive.writestr("archive/data/7", numbers.tobytes())
        return path

    return write


def test_tensors_come_back_from_the_newer_format_too(save_zip):
    state = OrderedDict(whole=Tensor(0, (3, 4), (4, 1)), turned=Tensor(4, (2, 3), (1, 2)))
    weights = read_weights(save_zip(state), "state")
    assert weights["whole"].tolist() == NUMBERS.reshape(3, 4).tolist()
    assert weights["turned"].tolist() == [[4, 6, 8], [5, 7, 9]]
    with pytest.raises(pickle.UnpicklingError, match="no place among weights"):
        read_weights(save_zip({"harmless": os.getcwd}), "state")
    with pytest.raises(ValueError, match="ends before"):
        read_weights(save_zip(state, numbers=NUMBERS[:7]), "state")


def test_tensors_come_back_in_their_shapes(save):
    state = OrderedDict(whole=Tensor(0, (3, 4), (4, 1)), turned=Tensor(4, (2, 3), (1, 2)))
    weights = read_weights(save(state), "state")
    assert weights["whole"].tolist() == NUMBERS.reshape(3, 4).tolist()
    assert weights["turned"].tolist() == [[4, 6, 8], [5, 7, 9]]
    assert weights["whole"].dtype == np.float32


def test_a_tensor_without_dimensions_is_one_number(save):
    assert read_weights(save({"bias": Tensor(5, (), ())}), "state")["bias"] == 5


def test_nothing_but_tensors_is_made(save):
    with pytest.raises(pickle.UnpicklingError, match="no place among weights"):
        read_weights(save({"harmless": os.getcwd}), "state")


@pytest.mark.parametrize("layout", [(1, (3, 4), (4, 1)), (0, (13,), (1,)), (-1, (2,), (1,))])
def test_a_tensor_beyond_its_numbers_is_refused(save, layout):
    with pytest.raises(ValueError, match="beyond its numbers"):
        read_weights(save({"wrong": Tensor(*layout)}), "state")


def test_a_file_that_was_cut_is_refused(save):
    with pytest.raises(ValueError, match="ends before"):
        read_weights(save({"whole": Tensor(0, (12,), (1,))}, numbers=NUMBERS[:7]), "state")


def test_another_format_is_refused(save):
    with pytest.raises(pickle.UnpicklingError, match="format"):
        read_weights(save({}, magic=1), "state")
