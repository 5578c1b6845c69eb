"""How much sound MiMo-Audio makes at a time: the sooner it is heard, the more work it is.

vLLM-Omni 0.30 reads it from the connector between the stages when they start; no request can
choose it for itself (``llm2code2wav_async_chunk`` in its ``stage_input_processors/mimo_audio.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.engines.omni.mimo.tokens import GROUP_S

_GROUPS = "codec_chunk_frames"
"""vLLM-Omni's name; it counts groups, not frames."""


def in_pieces_of(groups: int, deploy: Mapping[str, Any]) -> dict[str, Any]:
    """What to lay over a deploy file so that its sound comes in pieces of so many groups."""
    return {name: {"extra": {_GROUPS: groups}} for name in _speech(deploy)}


def piece_s(deploy: Mapping[str, Any], groups: int = 0) -> float:
    """Seconds of a piece of sound; 0 where all of a reply comes at once.

    Args:
        deploy: The deploy file.
        groups: Groups of a piece that were asked for instead of the file's, or 0.
    """
    options = list(_speech(deploy).values())
    if not options or not deploy.get("async_chunk", True):
        return 0.0
    return float((groups or options[0][_GROUPS]) * GROUP_S)


def _speech(deploy: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Options of the connectors that hand sound on, by name."""
    connectors = (deploy.get("connectors") or {}).items()
    options = {name: connector.get("extra") or {} for name, connector in connectors}
    return {name: extra for name, extra in options.items() if _GROUPS in extra}
