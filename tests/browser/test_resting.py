"""A page that nobody uses gives its connection back; one that is not let in keeps trying."""

from __future__ import annotations

import asyncio

import pytest
import pytest_asyncio

from backend.runtime.engine_thread import EngineThread
from backend.settings import Settings
from tests.browser.link import Link
from tests.browser.test_call import MICROPHONE, state
from tests.browser.test_connection_loss import notice_goes, notice_is
from tests.browser.world import last_turn, open_page, send
from tests.scripted_engine import ScriptedEngine, echo
from tests.serving import serve

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

IDLE_S = 8


@pytest.fixture(scope="module")
def small_app():
    """The app as it lets one page in at a time, and not for long when nothing happens."""
    limits = {"idle_minutes": IDLE_S / 60, "max_connections": 1}
    engine = EngineThread(lambda: ScriptedEngine(echo))
    with serve(engine, Settings(_env_file=None, **limits)) as url:
        yield url


@pytest_asyncio.fixture(loop_scope="session")
async def link(page):
    return await Link.attach(page)


@pytest_asyncio.fixture(loop_scope="session")
async def caller(small_app, browser):
    """Another page, in a call."""
    context = await browser.new_context(permissions=["microphone"])
    caller = await context.new_page()
    await caller.add_init_script(MICROPHONE)
    await open_page(caller, small_app)
    await caller.click("#call-button")
    await state(caller, "listening")
    yield caller
    await context.close()


async def test_a_page_that_rests_says_so_and_a_key_brings_it_back(small_app, page, link):
    await open_page(page, small_app)
    await send(page, "hello")
    await last_turn(page)
    await notice_is(page, "Nothing has happened here")
    await notice_is(page, "Click or press any key")
    opened = link.opened
    await asyncio.sleep(2)
    assert link.opened == opened
    await page.keyboard.press("Shift")
    await notice_goes(page)
    assert link.opened == opened + 1
    await send(page, "again")
    await last_turn(page, count=2)


async def test_a_call_in_which_nobody_speaks_is_kept_and_a_muted_one_ends(caller):
    await asyncio.sleep(IDLE_S + 1)
    await state(caller, "listening")
    await caller.click("#call-mute")
    await state(caller, "off")
    assert "so the call has ended" in await caller.inner_text("#call-notice")
    await caller.wait_for_function(
        "() => microphone.getTracks().every((track) => track.readyState === 'ended')"
    )


async def test_a_page_that_is_not_let_in_says_why_and_gets_in_later(small_app, page, caller):
    await page.goto(small_app)
    await notice_is(page, "Too many people are here")
    await notice_is(page, "keeps trying")
    await caller.close()
    await notice_goes(page)
    await page.wait_for_selector(".engine[data-state=ready]")
    assert "Too many people" not in await page.inner_text("body")
