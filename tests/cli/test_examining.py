"""What the doctor says of a server."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from backend.cli.examining import examine_machine
from tests.serving import free_port, run_app


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [(200, 0, "can serve"), (503, 1, "not running"), (404, 1, "no vLLM-Omni server")],
)
def test_a_server_is_asked_how_it_is(monkeypatch, capsys, status, code, words):
    app = Starlette(routes=[Route("/health", lambda request: Response(status_code=status))])
    with run_app(app) as url:
        monkeypatch.setattr("sys.argv", ["doctor", "--engine", "remote", "--url", url])
        assert examine_machine() == code
    assert words in capsys.readouterr().out


def test_a_server_that_is_not_there_is_told_of(monkeypatch, capsys):
    url = f"http://127.0.0.1:{free_port()}"
    monkeypatch.setattr("sys.argv", ["doctor", "--engine", "remote", "--url", url])
    assert examine_machine() == 1
    assert f"The server at {url} does not answer" in capsys.readouterr().out
