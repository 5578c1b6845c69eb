"""Talk: the microphone as the question, and everything that can go wrong with one."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
import pytest_asyncio

from tests.browser.listening import Ear
from tests.browser.world import assert_heard, last_turn, open_page, send

MICROPHONE = """
(() => {
  const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = async (constraints) => {
    window.use = navigator.audioSession?.type;
    await window.permission;
    return (window.stream = await open(constraints));
  };
  Object.defineProperty(navigator, "audioSession", { value: { type: "auto" } });
})();
"""

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def start_talking(tab) -> None:
    await tab.click("#talk")
    await tab.wait_for_selector("#talk[data-state=recording]")
    await asyncio.sleep(1.5)


async def test_a_recording_is_sent_by_a_second_press_of_talk(world, tab):
    ear = await Ear.listen(tab)
    await start_talking(tab)
    await tab.click("#talk")
    turn = await last_turn(tab)
    assert "Recording, " in await turn.locator(".asked .aside").inner_text()
    clip = world.engine.runs[-1].audio
    assert clip.sample_rate == 16_000
    assert 1.0 < clip.duration_s < 4.0
    assert np.abs(clip.samples).max() > 0.01
    assert_heard(await ear.reply())


async def test_send_while_recording_sends_the_recording_once(world, tab):
    before = len(world.engine.runs)
    await start_talking(tab)
    await tab.dblclick("#send")
    turn = await last_turn(tab)
    assert "Recording, " in await turn.locator(".asked .aside").inner_text()
    await asyncio.sleep(0.5)
    assert len(world.engine.runs) == before + 1
    assert await tab.locator(".field-error").count() == 0


async def test_escape_throws_a_recording_away(world, tab):
    before = len(world.engine.runs)
    await start_talking(tab)
    await tab.keyboard.press("Escape")
    await tab.wait_for_selector("#talk[data-state=idle]")
    await send(tab, "only words")
    turn = await last_turn(tab)
    assert await turn.locator(".asked .aside").is_hidden()
    assert world.engine.runs[-1].audio is None
    assert len(world.engine.runs) == before + 1


async def test_talking_stops_the_reply(tab):
    ear = await Ear.listen(tab)
    await send(tab, "long")
    await ear.begun()
    await start_talking(tab)
    await last_turn(tab, "cancelled")
    assert await ear.quiet_now()
    await tab.click("#talk")
    await last_turn(tab, count=2)


async def test_a_refused_microphone_is_explained(world, browser):
    context = await browser.new_context()
    tab = await context.new_page()
    await tab.add_init_script(
        "navigator.mediaDevices.getUserMedia = () =>"
        " Promise.reject(new DOMException('no', 'NotAllowedError'))"
    )
    await open_page(tab, world.url)
    await tab.click("#talk")
    notice = tab.locator(".page-notice")
    await notice.wait_for()
    assert "not allowed to use the microphone" in await notice.inner_text()
    assert await tab.inner_text("#talk") == "Talk"
    await send(tab, "words still work")
    await last_turn(tab)
    await context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def watched(world, page):
    """The app's page with a hand on its microphone."""
    await page.add_init_script(MICROPHONE)
    await open_page(page, world.url)
    return page


async def notice(tab, words: str) -> None:
    await tab.locator(".page-notice").get_by_text(words).wait_for()


async def test_the_level_is_seen_and_the_ring_switch_does_not_mute(watched):
    assert await watched.evaluate("navigator.audioSession.type") == "playback"
    await watched.click("#talk")
    await watched.wait_for_function(
        "Number(document.querySelector('#talk').style.getPropertyValue('--level')) > 0.1"
    )
    assert await watched.evaluate("window.use") == "play-and-record"
    await watched.click("#talk")
    await last_turn(watched)
    assert await watched.evaluate("navigator.audioSession.type") == "playback"


async def test_a_microphone_that_is_unplugged_ends_the_recording_and_says_so(watched):
    await start_talking(watched)
    await watched.evaluate("window.stream.getTracks()[0].dispatchEvent(new Event('ended'))")
    await notice(watched, "The microphone was disconnected")
    turn = await last_turn(watched)
    assert "Recording, " in await turn.locator(".asked .aside").inner_text()
    assert await watched.inner_text("#talk") == "Talk"


async def test_presses_that_follow_at_once_give_a_hint_and_no_turn(world, watched):
    before = len(world.engine.runs)
    await watched.evaluate(
        "() => { window.permission = new Promise((grant) => { window.grant = grant; }); }"
    )
    await watched.click("#talk")
    await watched.wait_for_selector("#talk[data-state=starting]")
    await watched.click("#talk")
    await watched.wait_for_selector("#talk[data-state=idle]")
    await notice(watched, "That was too short.")
    await watched.evaluate("window.grant()")
    await watched.wait_for_function("window.stream?.getTracks()[0].readyState === 'ended'")

    await watched.evaluate(
        "() => { const talk = document.querySelector('#talk'); talk.click();"
        " new MutationObserver((_, watcher) => { if (talk.dataset.state !== 'recording') return;"
        " watcher.disconnect(); talk.click(); }).observe(talk, { attributes: true }); }"
    )
    await notice(watched, "That was too short.")
    await watched.wait_for_selector("#talk[data-state=idle]")
    await asyncio.sleep(0.3)
    assert len(world.engine.runs) == before
    assert await watched.locator(".field-error").count() == 0


async def test_a_recording_ends_though_the_sound_device_does_not_answer(watched):
    await watched.click("#talk")
    await watched.wait_for_selector("#talk[data-state=recording]")
    await watched.evaluate("() => { MessagePort.prototype.postMessage = () => {}; }")
    await asyncio.sleep(0.3)
    await watched.click("#talk")
    await watched.wait_for_selector("#talk[data-state=idle]", timeout=5_000)
    assert await watched.locator("#talk").is_enabled()
