"""The processes of this one, which vLLM-Omni's stages are."""

from __future__ import annotations

import logging
import multiprocessing

_log = logging.getLogger(__name__)

_JOIN_TIMEOUT_S = 1.0


def end_children() -> None:
    """End what the stages left running, so that the next start finds its memory free."""
    children = multiprocessing.active_children()
    for child in children:
        child.terminate()
    for child in children:
        child.join(_JOIN_TIMEOUT_S)
        if child.is_alive():
            _log.warning("%s had to be killed", child.name)
            child.kill()
