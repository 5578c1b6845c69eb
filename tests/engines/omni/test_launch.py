"""Starts of vLLM-Omni one after the other: one that is given up ends before the next begins."""

from __future__ import annotations

import asyncio
import importlib.util
import threading
from pathlib import Path

import pytest

from backend.engines.omni import launch
from backend.engines.omni.launch import Launch

PROFILE = Path(__file__).parents[3] / "deploy" / "aura_omni.yaml"


class Stages:
    """Stages that are up once their gate is open."""

    def __init__(self):
        self.gate = threading.Event()
        self.begun = threading.Event()
        self.ended = threading.Event()

    def start(self):
        self.begun.set()
        assert self.gate.wait(20)
        return self

    def shutdown(self):
        self.ended.set()

    def sweep(self):
        assert self.ended.is_set()


@pytest.fixture
def stages(monkeypatch):
    """Those of the first start, and of the second."""
    both = [Stages(), Stages()]
    supply = iter(both)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(Launch, "_start_stages", lambda self, profile: next(supply).start())
    monkeypatch.setattr(launch, "_STOP_TIMEOUT_S", 0.1)
    return both


@pytest.mark.parametrize(("profile", "freed"), [("mimo_audio", 1), ("aura_omni", 0)])
async def test_what_this_process_has_of_a_pipeline_is_freed_when_it_stops(
    stages, monkeypatch, profile, freed
):
    forgotten = []
    monkeypatch.setattr(launch.audio_tokenizer, "forget", lambda: forgotten.append(profile))
    stages[0].gate.set()
    started = Launch(PROFILE.with_name(f"{profile}.yaml"))
    await started.stop(await started.start(lambda done, words: None))
    assert len(forgotten) == freed


async def test_a_start_that_is_given_up_ends_before_the_next_begins(stages, until):
    first, second = stages
    given_up = Launch(PROFILE)
    starting = asyncio.create_task(given_up.start(lambda done, words: None))
    await until(first.begun.is_set)
    starting.cancel()
    await given_up.stop(None)

    next_one = asyncio.create_task(Launch(PROFILE).start(lambda done, words: None))
    await asyncio.sleep(0.2)
    assert not second.begun.is_set()
    first.gate.set()
    await until(second.begun.is_set)
    assert first.ended.is_set()
    second.gate.set()
    assert await next_one is second
    assert not second.ended.is_set()
