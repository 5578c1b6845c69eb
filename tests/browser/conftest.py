"""A real browser, and a small site that serves the page's own files beside the tests' pages."""

import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import async_playwright

from backend.runtime.engine_thread import EngineThread
from bench.chromium import FLAGS
from tests.browser.world import GATE, SCRIPTS, World, open_page
from tests.scripted_engine import ScriptedEngine, echo
from tests.serving import serve

HERE = Path(__file__).parent
STATIC = HERE.parents[1] / "ui" / "static"
CHROMIUM_ARGS = [
    *FLAGS,
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
]


class SiteHandler(SimpleHTTPRequestHandler):
    """Serves ``ui/static`` under ``/static/`` and this folder as the rest."""

    def translate_path(self, path):
        if path.startswith("/static/"):
            return str(STATIC / Path(path).name)
        return super().translate_path(path)

    def log_message(self, *args):
        """Keep the tests' output readable."""


@pytest.fixture(scope="session")
def site():
    """Address of the small site."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SiteHandler, directory=str(HERE)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser():
    """Chromium under its own rules on autoplay, with a fake microphone and camera."""
    executable = shutil.which("chromium") or shutil.which("chromium-browser")
    if executable is None:
        pytest.skip("no Chromium on this machine")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=executable, args=CHROMIUM_ARGS)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser):
    """A fresh page that nobody has touched yet."""
    context = await browser.new_context()
    page = await context.new_page()
    yield page
    await context.close()


@pytest.fixture(scope="session")
def world():
    """The whole app on scripted engines that echo, or follow the script that is typed."""
    engines = []

    def make() -> ScriptedEngine:
        engines.append(ScriptedEngine(echo, scripts=SCRIPTS, concurrent=4, sees=True))
        return engines[-1]

    with serve(EngineThread(make)) as url:
        yield World(url, engines)


@pytest_asyncio.fixture(loop_scope="session")
async def tab(world, page):
    """The app's page, ready to be used."""
    await open_page(page, world.url)
    return page


@pytest.fixture
def gate():
    """What some scripts wait for: closed until the test sets it."""
    GATE.clear()
    yield GATE
    GATE.set()
