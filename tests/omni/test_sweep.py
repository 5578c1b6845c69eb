"""What an engine of vLLM-Omni leaves when it has ended, and who clears it away. No engine runs."""

from __future__ import annotations

import asyncio
import threading
from importlib.util import find_spec
from types import SimpleNamespace

import pytest

pytestmark = [
    pytest.mark.omni,
    pytest.mark.skipif(find_spec("vllm_omni") is None, reason="vLLM-Omni is not installed"),
]


@pytest.fixture
def ended():
    """An engine with one stage, whose loop has ended with the sockets to the stage still open."""
    import zmq.asyncio

    from backend.engines.omni.staged import StagedOmni

    context = zmq.asyncio.Context()

    async def opened() -> list[zmq.asyncio.Socket]:
        return [context.socket(zmq.PULL), context.socket(zmq.ROUTER)]

    sockets = asyncio.run(opened())
    thread = threading.Thread(target=lambda: None)
    thread.start()
    resources = SimpleNamespace(output_socket=sockets[0], input_socket=sockets[1])
    omni = StagedOmni.__new__(StagedOmni)
    omni._mark = "0123abcd"
    omni.engine = SimpleNamespace(
        orchestrator_thread=thread, stage_clients=[SimpleNamespace(resources=resources)]
    )
    yield omni, sockets
    context.destroy(linger=0)


def test_the_sockets_to_its_stages_are_closed(ended) -> None:
    omni, sockets = ended
    omni.sweep()
    assert all(socket.closed for socket in sockets)


def test_its_files_in_shared_memory_are_removed_and_no_others(ended, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr("backend.engines.omni.staged._SHARED_MEMORY", tmp_path)
    for name in ("shm_0123abcd-turn-task-5.lock", "shm_4567cdef-turn-task-5.lock"):
        (tmp_path / name).touch()
    ended[0].sweep()
    assert [path.name for path in tmp_path.iterdir()] == ["shm_4567cdef-turn-task-5.lock"]
