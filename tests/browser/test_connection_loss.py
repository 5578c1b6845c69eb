"""A connection that is cut, dead or refused: the page comes back with what is true."""

from __future__ import annotations

import asyncio

import pytest
import pytest_asyncio

from tests.browser.link import Link
from tests.browser.listening import Ear
from tests.browser.world import SOUND, assert_heard, last_turn, open_page, send, until

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

HIDE = """
(hidden) => {
  Object.defineProperty(document, "hidden", { get: () => hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}
"""

CONNECT = """
async () => {
  const { RealtimeSocket } = await import("/static/socket.js");
  window.socket = new RealtimeSocket("0".repeat(32));
}
"""


@pytest_asyncio.fixture(loop_scope="session")
async def link(page):
    return await Link.attach(page)


@pytest_asyncio.fixture(loop_scope="session")
async def tab(world, page, link):
    await open_page(page, world.url)
    return page


async def notice_is(tab, words: str) -> None:
    await tab.wait_for_function(
        "(words) => document.querySelector('.page-notice')?.textContent.includes(words)", arg=words
    )


async def notice_goes(tab) -> None:
    await tab.locator(".page-notice").wait_for(state="hidden")


async def test_a_reply_cut_off_says_so_and_does_not_mute_the_next(world, tab, link, gate):
    ear = await Ear.listen(tab)
    await send(tab, "halves")
    await ear.begun()
    await link.cut()
    await notice_is(tab, "connection to the app was lost")
    gate.set()
    await until(lambda: world.engine.running == 0)
    link.mend()
    turn = await last_turn(tab)
    assert await turn.locator(".reply").inner_text() == "Part one. Part two."
    assert "may have been missed" in await turn.locator(".remarks").inner_text()
    assert await tab.locator(".chip[data-state=active]").count() == 0
    await notice_goes(tab)
    assert_heard(await ear.reply())
    await send(tab, "next")
    await last_turn(tab, count=2)
    assert_heard(await ear.reply())


async def test_a_reply_goes_on_after_a_short_loss(tab, link, gate):
    ear = await Ear.listen(tab)
    await send(tab, "halves")
    await ear.begun()
    await link.cut()
    link.mend()
    await tab.locator(".remarks:not([hidden])").wait_for()
    assert await tab.get_attribute(".chip[data-stage=speak]", "data-state") == "active"
    gate.set()
    await last_turn(tab)
    assert (await ear.reply()).startswith(SOUND)


async def test_a_turn_asked_and_answered_during_the_loss_is_heard_in_full(tab, link):
    ear = await Ear.listen(tab)
    await link.cut()
    await send(tab, "hello")
    await tab.wait_for_function("!document.querySelector('#message textarea').value")
    link.mend()
    turn = await last_turn(tab)
    assert_heard(await ear.reply())
    assert await turn.locator(".remarks").is_hidden()


async def test_a_stop_while_the_link_is_down_is_made_good(world, tab, link):
    await send(tab, "hang")
    await tab.locator(".reply:not([hidden])").wait_for()
    await link.cut()
    await tab.click("#stop")
    link.mend()
    await last_turn(tab, "cancelled")
    await until(lambda: world.engine.running == 0)
    assert await tab.locator(".turn").count() == 1


async def test_a_new_conversation_while_the_link_is_down_is_made_good(tab, link):
    await send(tab, "hello")
    await last_turn(tab)
    await link.cut()
    await tab.click("#new-conversation")
    link.mend()
    await tab.wait_for_selector(".empty")
    assert await tab.locator(".turn").count() == 0


async def test_stop_holds_for_sound_that_is_on_its_way(tab, link, gate):
    ear = await Ear.listen(tab)
    await send(tab, "held")
    await tab.locator(".chip[data-stage=think][data-state=active]").wait_for()
    link.hold()
    gate.set()
    await until(lambda: any("response.done" in message for _, message in link.held))
    await tab.click("#stop")
    link.release()
    await last_turn(tab)
    assert await ear.quiet_now()
    assert await tab.evaluate("window.ear.started") == 0


async def test_stop_holds_for_a_question_that_is_still_on_its_way(world, tab):
    on_its_way = []
    stopped = asyncio.Event()

    async def delay(route) -> None:
        on_its_way.append(route)
        await stopped.wait()
        await route.continue_()

    await tab.route("**/gradio_api/**", delay)
    await send(tab, "hang")
    await until(lambda: on_its_way)
    await tab.keyboard.press("Escape")
    stopped.set()
    await last_turn(tab, "cancelled")
    await until(lambda: world.engine.running == 0)
    assert await tab.locator(".turn").count() == 1


async def test_a_dead_connection_is_found_when_the_answer_stays_away(tab, link):
    ear = await Ear.listen(tab)
    link.kill()
    await send(tab, "hello")
    await last_turn(tab)
    assert_heard(await ear.reply())
    assert link.opened == 2


async def test_a_dead_connection_is_replaced_when_the_network_is_back(tab, link):
    link.kill()
    await tab.context.set_offline(True)
    await tab.context.set_offline(False)
    await until(lambda: link.opened == 2)
    await send(tab, "hello")
    turn = await last_turn(tab)
    assert await turn.locator(".reply").inner_text() == "hello"
    assert link.opened == 2


async def test_a_refusal_is_said_once_and_goes_away_with_it(world, page):
    refusing = True

    async def answer(line) -> None:
        if refusing:
            line.send('{"type": "error", "error": {"message": "Too many people are here."}}')
            await line.close()
        else:
            line.connect_to_server()

    await page.route_web_socket(lambda url: "/v1/realtime" in url, answer)
    await page.goto(world.url)
    await notice_is(page, "Too many people")
    await notice_is(page, "connection to the app was lost")
    await page.evaluate(
        "() => { window.said = 0; new MutationObserver(() => { window.said += 1; })"
        ".observe(document.querySelector('.page-notice'),"
        " { attributes: true, childList: true, characterData: true }); }"
    )
    await asyncio.sleep(1.2)
    assert await page.evaluate("window.said") == 0
    refusing = False
    await notice_goes(page)


async def test_retries_come_soon_at_first_and_seldom_later(page, site, link):
    link.down = True
    await page.clock.install()
    await page.goto(f"{site}/player_page.html")
    await page.evaluate(CONNECT)
    await pass_time(page, 5, step_ms=250)
    assert 5 <= link.opened <= 8
    await pass_time(page, 115)
    assert link.opened <= 20


async def test_a_hidden_page_gives_up_until_it_is_seen(page, site, link):
    link.down = True
    await page.clock.install()
    await page.goto(f"{site}/player_page.html")
    await page.evaluate(CONNECT)
    await page.evaluate(HIDE, True)
    await pass_time(page, 20)
    opened = link.opened
    await pass_time(page, 60)
    assert link.opened == opened
    await page.evaluate(HIDE, False)
    await until(lambda: link.opened == opened + 1)


async def pass_time(page, seconds: int, step_ms: int = 1000) -> None:
    for _ in range(seconds * 1000 // step_ms):
        await page.clock.run_for(step_ms)
        await page.evaluate("0")
