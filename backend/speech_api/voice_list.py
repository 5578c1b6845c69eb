"""Voices as a client is told of them."""

from __future__ import annotations

from backend.runtime.engine_thread import EngineThread
from backend.speech_api.guards import known_capabilities
from backend.voices.library import VoiceLibrary
from backend.voices.voice import Voice, is_usable

Told = dict[str, object]


def list_voices(engine: EngineThread, library: VoiceLibrary, owner: str) -> list[Told]:
    """The engine's own voices, and the kept ones that ``owner`` may use. Blocks.

    Raises:
        ApiError: The engine is still being loaded.
    """
    can = known_capabilities(engine).voice
    own = [{"id": name, "name": name, "built_in": True} for name in can.speakers]
    kept = library.voices(owner)
    return [*own, *(told_of(one, owner) | {"usable": is_usable(one, can)} for one in kept)]


def find_voice(library: VoiceLibrary, owner: str, name: str) -> Voice | None:
    """The kept voice with this id or name that ``owner`` may use. Blocks."""
    usable = library.voices(owner)
    return next((one for one in usable if one.id == name), None) or library.named(owner, name)


def told_of(voice: Voice, owner: str) -> Told:
    """A kept voice, without what only the app needs."""
    return {
        "id": voice.id,
        "object": "audio.voice",
        "name": voice.name,
        "kind": voice.kind,
        "language": voice.language,
        "created_at": int(voice.created_at.timestamp()),
        "built_in": False,
        "own": voice.owner == owner,
        "tags": voice.tags,
        "shared": voice.shared,
    }
