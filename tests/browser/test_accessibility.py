"""The page for those who do not see it, or do not use a mouse."""

from __future__ import annotations

import asyncio

import pytest

from tests.browser.world import last_turn, open_page, send

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

WATCH_TEXT = """
() => {
  window.removed = 0;
  window.busy = [];
  const count = (record) => [...record.removedNodes].filter((node) => node.nodeType === 3).length;
  new MutationObserver((records) => {
    for (const record of records)
      if (record.target.closest?.(".reply")) window.removed += count(record);
    window.busy.push(document.querySelector(".turn")?.getAttribute("aria-busy"));
  }).observe(document.querySelector(".transcript"), { childList: true, subtree: true });
}
"""

PRESS_ESCAPE = """
(how) => {
  const box = document.querySelector("#message textarea");
  const event = new KeyboardEvent("keydown", {
    key: "Escape", bubbles: true, cancelable: true, isComposing: how === "composing",
  });
  if (how === "handled") box.addEventListener("keydown", (e) => e.preventDefault(), { once: true });
  box.dispatchEvent(event);
}
"""


async def test_a_growing_reply_is_added_to_and_never_written_anew(tab):
    await tab.evaluate(WATCH_TEXT)
    await send(tab, "long")
    await tab.wait_for_function(
        "document.querySelector('.reply')?.textContent === 'A long reply that goes on.'"
    )
    assert await tab.get_attribute(".turn", "aria-busy") == "true"
    await tab.click("#stop")
    turn = await last_turn(tab, "cancelled")
    assert await turn.get_attribute("aria-busy") == "false"
    assert await turn.locator(".reply").inner_text() == "A long reply that goes on."
    assert await tab.evaluate("window.removed") == 0
    assert "true" in await tab.evaluate("window.busy")


async def test_only_a_failure_that_happens_now_is_read_out(tab, gate):
    gate.set()
    await send(tab, "bad")
    turn = await last_turn(tab, "failed")
    assert await turn.get_by_role("alert").count() == 1
    await send(tab, "hang")
    await tab.locator(".turn:nth-of-type(2) .reply:not([hidden])").wait_for()
    await tab.click("#stop")
    stopped = await last_turn(tab, "cancelled", count=2)
    assert await stopped.locator(".failure").inner_text() == "Stopped."
    assert await stopped.get_by_role("alert").count() == 0
    await tab.reload()
    await last_turn(tab, "cancelled", count=2)
    assert await tab.locator(".turn [role=alert]").count() == 0


async def test_what_the_engine_is_can_be_read_by_touch_and_by_keyboard(world, browser):
    context = await browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    phone = await context.new_page()
    await open_page(phone, world.url)
    words = phone.get_by_text("A test double.")
    assert await words.is_hidden()
    await phone.get_by_text("About this engine").tap()
    assert await words.is_visible()
    await phone.keyboard.press("Enter")
    await words.wait_for(state="hidden")
    assert await phone.evaluate("document.documentElement.scrollWidth") <= 390
    await context.close()


async def test_escape_that_is_meant_for_something_else_does_not_stop_the_reply(tab):
    await send(tab, "hang")
    await tab.locator(".reply:not([hidden])").wait_for()
    await tab.evaluate(PRESS_ESCAPE, "composing")
    await tab.evaluate(PRESS_ESCAPE, "handled")
    await tab.get_by_role("button", name="Settings").click()
    await tab.get_by_label("Language spoken").click()
    await tab.locator("[role=option]").first.wait_for()
    await tab.keyboard.press("Escape")
    await tab.locator("[role=option]").first.wait_for(state="detached")
    await asyncio.sleep(0.3)
    assert await tab.get_attribute(".turn", "data-outcome") == ""
    await tab.evaluate(PRESS_ESCAPE, "plainly")
    await last_turn(tab, "cancelled")


async def test_waiting_and_long_work_are_shown_while_they_last(tab, gate):
    await send(tab, "queued")
    working = tab.locator(".working")
    await working.get_by_text("Two are before you.").wait_for()
    gate.set()
    await tab.locator(".chip[data-stage=hear]").get_by_text("42 %").wait_for()
    assert await working.inner_text() == "Listening…"
    gate.set()
    turn = await last_turn(tab)
    assert "Two are before you." not in await turn.inner_text()
