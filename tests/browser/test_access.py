"""The page from elsewhere: under a proxy's path, and over plain http from another machine."""

from __future__ import annotations

import shutil

import pytest
import pytest_asyncio
from playwright.async_api import async_playwright
from starlette.applications import Starlette
from starlette.routing import Mount

from app import make_app
from backend.runtime.engine_thread import EngineThread
from backend.settings import Settings
from tests.browser.conftest import CHROMIUM_ARGS
from tests.scripted_engine import ScriptedEngine, echo
from tests.serving import run_app

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

ELSEWHERE = "voice.test"


@pytest.fixture(scope="module")
def url():
    """The app under /voice; a mount strips the path as a proxy does."""
    settings = Settings(_env_file=None, root_path="/voice")
    app = make_app(settings, EngineThread(lambda: ScriptedEngine(echo)))
    outer = Starlette(routes=[Mount("/voice", app)], lifespan=app.router.lifespan_context)
    with run_app(outer) as address:
        yield f"{address}/voice/"


@pytest_asyncio.fixture(loop_scope="module")
async def tab():
    """A page in a browser to which the app's machine is another one."""
    rules = f"--host-resolver-rules=MAP {ELSEWHERE} 127.0.0.1"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=[*CHROMIUM_ARGS, rules]
        )
        yield await browser.new_page()
        await browser.close()


async def ask(tab) -> None:
    await tab.wait_for_selector(".engine[data-state=ready]", timeout=60_000)
    await tab.fill("#message textarea", "hello")
    await tab.press("#message textarea", "Enter")
    await tab.locator(".turn[data-outcome=answered]").wait_for(timeout=30_000)


async def test_everything_is_found_under_a_path(tab, url):
    missing = []
    tab.on("response", lambda r: missing.append(r.url) if r.status >= 400 else None)
    await tab.goto(url)
    await ask(tab)
    link = await tab.get_by_role("link", name="Download").get_attribute("href")
    assert link.startswith(url)
    assert (await tab.request.get(link)).ok
    assert missing == []


async def test_plain_http_from_elsewhere_says_why_there_is_no_microphone_and_text_works(tab, url):
    await tab.goto(url.replace("127.0.0.1", ELSEWHERE))
    notice = tab.locator(".page-notice")
    await notice.wait_for()
    words = await notice.inner_text()
    assert "plain http" in words
    assert "https" in words
    await ask(tab)
