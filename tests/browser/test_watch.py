"""Watching in a call: a silent decision is a quiet tick, a spoken one a turn of its own."""

from __future__ import annotations

import pytest
import pytest_asyncio

from backend.realtime import watch
from tests.browser.microphone import MICROPHONE
from tests.browser.test_call import speak, state
from tests.browser.world import last_turn, open_page
from tests.scripted_engine import say, stay_silent

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

SILENT = "#call-timeline li[data-kind=silent]"

# Of Chromium's fake camera only a clock and a circle move; this one goes from black to white.
CAMERA = """
(() => {
  const other = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = async (constraints) => {
    if (!constraints.video) return other(constraints);
    const canvas = document.createElement("canvas");
    const scene = canvas.getContext("2d");
    let bright = false;
    const paint = () => {
      scene.fillStyle = bright ? "white" : "black";
      scene.fillRect(0, 0, canvas.width, canvas.height);
    };
    setInterval(paint, 100);
    window.changeScene = () => { bright = !bright; paint(); };
    return canvas.captureStream(10);
  };
})();
"""


@pytest_asyncio.fixture(loop_scope="session")
async def watcher(world, browser, monkeypatch):
    """A page in a call that watches; the engine sees nothing worth a word."""
    monkeypatch.setattr(watch, "LOOK_EVERY_S", 0.2)
    monkeypatch.setattr(watch, "REST_S", 0.5)
    world.engine.script, usual = stay_silent, world.engine.script
    context = await browser.new_context(permissions=["microphone", "camera"])
    page = await context.new_page()
    await page.add_init_script(MICROPHONE)
    await page.add_init_script(CAMERA)
    await open_page(page, world.url)
    await page.click("#call-button")
    await state(page, "listening")
    await page.click("#call-camera")
    await page.click("#call-watch")
    await page.wait_for_selector("#call-watch[aria-pressed=true]")
    await page.wait_for_timeout(2000)
    yield page
    await context.close()
    world.engine.script = usual


async def test_a_silent_decision_is_a_tick_and_no_turn(world, watcher):
    before = len(world.engine.runs)
    await watcher.evaluate("changeScene()")
    await watcher.wait_for_selector(SILENT, timeout=10_000)
    label = await watcher.locator(SILENT).first.get_attribute("aria-label")
    assert "Looked by itself. Stayed silent." in label
    assert await watcher.locator(".turn:visible").count() == 0
    await state(watcher, "listening")
    assert len(world.engine.runs) > before


async def test_what_it_says_by_itself_is_a_turn(world, watcher):
    world.engine.script = say("Somebody turned on the light.")
    await watcher.evaluate("changeScene()")
    turn = await last_turn(watcher)
    assert "Somebody turned on the light." in await turn.inner_text()
    await watcher.wait_for_selector("#call-timeline li[data-kind=spoke]")


async def test_without_the_camera_it_watches_no_more(world, watcher):
    await watcher.click("#call-camera")
    await watcher.wait_for_selector("#call-watch", state="hidden")
    await watcher.click("#call-camera")
    await watcher.wait_for_selector("#call-watch[aria-pressed=false]")
    before = len(world.engine.runs)
    await watcher.wait_for_timeout(1500)
    await watcher.evaluate("changeScene()")
    await watcher.wait_for_timeout(1500)
    assert len(world.engine.runs) == before


async def test_every_question_of_a_call_is_a_tick(world, watcher):
    await speak(watcher)
    await watcher.wait_for_selector(".turn[data-outcome=silent]", timeout=20_000)
    labels = await watcher.locator(SILENT).evaluate_all(
        "(ticks) => ticks.map((tick) => tick.ariaLabel ?? tick.getAttribute('aria-label'))"
    )
    assert any("Looked" not in label for label in labels)
