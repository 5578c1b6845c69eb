"""Conversations are found by an unguessable id and forgotten when nobody comes back."""

from __future__ import annotations

import pytest

from backend.contract.errors import TurnRefused
from backend.conversation.registry import SessionRegistry


def never(turn):
    raise AssertionError("no turn was asked for")


def test_the_same_id_finds_the_same_conversation():
    registry = SessionRegistry(never)
    assert registry.get("a" * 32) is registry.get("a" * 32)
    assert registry.get("a" * 32) is not registry.get("b" * 32)


@pytest.mark.parametrize("bad", ["", "short", "A" * 32, "../" * 10 + "ab", "g" * 32, "a" * 33])
def test_a_malformed_id_is_refused(bad):
    with pytest.raises(TurnRefused, match="reload"):
        SessionRegistry(never).get(bad)


def test_idle_conversations_that_nobody_watches_are_forgotten():
    registry = SessionRegistry(never, idle_s=-1)
    watched = registry.get("a" * 32)
    watched.listeners.add(print)
    forgotten = registry.get("b" * 32)
    registry.get("c" * 32)
    assert len(registry) == 2
    assert registry.get("a" * 32) is watched
    assert registry.get("b" * 32) is not forgotten


def test_too_many_conversations_are_refused_in_plain_words():
    registry = SessionRegistry(never, max_sessions=1)
    registry.get("a" * 32)
    with pytest.raises(TurnRefused, match="Too many people"):
        registry.get("b" * 32)
