"""What stands in for vLLM here."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest


@pytest.fixture(autouse=True)
def plain_params(monkeypatch):
    """Sampling parameters are mappings: vLLM's own are not installed everywhere."""
    structs = SimpleNamespace(replace=lambda params, **changes: type(params)(params, **changes))
    monkeypatch.setitem(sys.modules, "msgspec", SimpleNamespace(structs=structs))
