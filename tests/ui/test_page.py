"""What the page's server does beside Send."""

from __future__ import annotations

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from backend.runtime.engine_thread import EngineThread
from backend.settings import Settings
from tests.scripted_engine import ScriptedEngine
from tests.serving import serve
from ui import page

SAMPLE = Path(__file__).parents[2] / "assets" / "question.wav"


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "KEEP_UPLOADS_S", (1, 1))
        patch.setenv("GRADIO_TEMP_DIR", str(tmp_path_factory.mktemp("uploads")))
        settings = Settings(_env_file=None, max_upload_mb=1)
        with serve(EngineThread(ScriptedEngine), settings) as address:
            yield address


def upload(url: str, size: int) -> httpx.Response:
    files = {"files": ("clip.wav", b"x" * size)}
    return httpx.post(f"{url}/gradio_api/upload", files=files, timeout=20)


def test_uploads_do_not_stay(url):
    answer = upload(url, 1_000)
    (path,) = map(Path, answer.json())
    assert path.exists()
    deadline = time.monotonic() + 20
    while path.exists():
        assert time.monotonic() < deadline, "the upload was not swept"
        time.sleep(0.2)


def test_a_file_over_the_limit_is_refused_at_the_door(url):
    assert upload(url, 3_000_000).status_code == 413


SEND = ["a" * 32, "hi", None, None, None, "", "auto", 64, 4]
SEND += ["", "auto", "", False, 1.0]
SOUND_FILE = 2


def press_send(url: str, file: object = None) -> httpx.Response:
    config = httpx.get(f"{url}/config", timeout=20).json()
    send = next(d for d in config["dependencies"] if len(d["inputs"]) == len(SEND))
    data = list(SEND)
    data[SOUND_FILE] = file
    body = {"data": data, "fn_index": send["id"], "session_hash": "x"}
    return httpx.post(f"{url}/gradio_api/run/predict", json=body, timeout=20)


def test_send_by_hand_works_without_a_file(url):
    assert press_send(url).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/nowhere/at/all",
        "../../etc/passwd",
        str(SAMPLE),
        "file:///etc/passwd",
        "data:audio/wav;base64,AAAA",
    ],
)
def test_a_path_in_place_of_an_upload_is_refused_whether_or_not_it_exists(url, path):
    answer = press_send(url, {"path": path, "meta": {"_type": "gradio.FileData"}})
    assert answer.status_code >= 400
    assert "was not uploaded" in answer.text


def test_no_address_inside_is_fetched_in_place_of_an_upload(url):
    fetched = []

    class Listener(BaseHTTPRequestHandler):
        def do_GET(self):
            fetched.append(self.path)
            self.send_response(404)
            self.end_headers()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Listener)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/x.wav"
    answer = press_send(url, {"path": address, "meta": {"_type": "gradio.FileData"}})
    server.shutdown()
    server.server_close()
    assert answer.status_code >= 400
    assert fetched == []
