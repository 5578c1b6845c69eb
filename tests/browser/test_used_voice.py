"""Which kept voice the assistant speaks in: said under Settings, in every tab, as things change."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import expect

from backend.contract.voice import VoiceControls, VoiceMode
from backend.runtime.engine_thread import EngineThread
from tests.browser.link import Link
from tests.browser.world import World, last_turn, open_page, send
from tests.scripted_engine import ScriptedEngine, echo
from tests.serving import serve
from ui.choices import ONLY_COPIES

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

QUESTION = Path(__file__).parents[2] / "assets" / "question.wav"
SPEAKS = "The assistant speaks as {}, a kept voice."
BOTH = VoiceControls((VoiceMode.NAMED, VoiceMode.CLONE), ("Vivian", "Ryan"), reference_s=(1, 30))
COPIES = VoiceControls((VoiceMode.CLONE,), reference_s=(1, 30))


def serving(voice: VoiceControls):
    engines = []

    def make():
        engines.append(ScriptedEngine(echo, voice=voice))
        return engines[-1]

    with serve(EngineThread(make)) as url:
        yield World(url, engines)


@pytest.fixture(scope="module")
def world():
    """An engine that has voices of its own and copies others."""
    yield from serving(BOTH)


@pytest.fixture(scope="module")
def copier():
    """An engine that only copies voices."""
    yield from serving(COPIES)


@pytest_asyncio.fixture(loop_scope="session")
async def tab(world, page):
    """A page of a browser that keeps Anna, and uses her in the conversation."""
    await open_page(page, world.url)
    await keep(page)
    await open_lab(page)
    await use_anna(page)
    return page


KEEP = """
async ({ clip, ...fields }) => {
  const { keepVoice } = await import(new URL("omni/voice_api.js", document.baseURI));
  const bytes = Uint8Array.from(atob(clip), (letter) => letter.charCodeAt(0));
  await keepVoice({ consent: "I am Anna.", audio_sample: new Blob([bytes]), ...fields });
}
"""


async def keep(page, name: str = "Anna", words: str = "One two.", *, replace: bool = False):
    """Keep the voice of the sample question."""
    clip = b64encode(QUESTION.read_bytes()).decode()
    fields = {"clip": clip, "name": name, "ref_text": words, "replace": replace}
    await page.evaluate(KEEP, fields)


async def open_lab(page) -> None:
    await page.get_by_role("button", name="Voice lab").click()
    await page.get_by_text("Kept voices", exact=True).click()


async def open_settings(page) -> None:
    await page.get_by_role("button", name="Settings").click()
    await page.locator("#voice").wait_for()


async def use_anna(page) -> None:
    await button(page, "Use Anna in the conversation").click()
    await button(page, "Stop using Anna in the conversation").wait_for()


def button(page, name: str):
    return page.get_by_role("button", name=name)


def spoken_as(page):
    return page.locator(".used-voice p")


async def answered(page, world, count: int = 1):
    """The voice that the next question is answered in."""
    await send(page, "hello")
    await last_turn(page, count=count)
    return world.engine.runs[-1].settings.voice


async def test_settings_say_which_kept_voice_it_is_until_it_is_taken_away(tab, world):
    await open_settings(tab)
    await expect(spoken_as(tab)).to_have_text(SPEAKS.format("Anna"))
    assert (await answered(tab, world)).reference_text == "One two."
    await button(tab, "Use the voice of the settings again").click()
    await spoken_as(tab).wait_for(state="hidden")
    await button(tab, "Use Anna in the conversation").wait_for()
    assert (await answered(tab, world, 2)).mode is VoiceMode.NAMED


async def test_it_stays_over_a_new_conversation_and_a_reload_with_the_lab_closed(tab, world):
    await tab.click("#new-conversation")
    assert (await answered(tab, world)).mode is VoiceMode.CLONE
    await forget_at_the_app(tab)
    await tab.reload()
    await open_settings(tab)
    await expect(spoken_as(tab)).to_have_text(SPEAKS.format("Anna"))
    assert (await answered(tab, world, 2)).mode is VoiceMode.CLONE


FORGET = """
async () => {
  const { useVoice } = await import(new URL("omni/voice_api.js", document.baseURI));
  await useVoice("any", window.omni.sessionId, false);
}
"""


async def forget_at_the_app(page) -> None:
    """As if the app had been restarted, as far as the voice is concerned."""
    await page.evaluate(FORGET)


async def test_an_app_that_was_restarted_under_the_page_is_told_again(world, page):
    link = await Link.attach(page)
    await open_page(page, world.url)
    await keep(page)
    await open_lab(page)
    await use_anna(page)
    await forget_at_the_app(page)
    async with page.expect_response(lambda answer: answer.url.endswith("/conversation")):
        await link.cut()
        link.mend()
    assert (await answered(page, world)).mode is VoiceMode.CLONE


async def test_a_voice_that_is_renamed_or_replaced_goes_on_speaking(tab, world):
    await open_settings(tab)
    await tab.get_by_label("Name of Anna").fill("Anne")
    await tab.keyboard.press("Enter")
    await expect(spoken_as(tab)).to_have_text(SPEAKS.format("Anne"))
    other = await tab.context.new_page()
    await open_page(other, world.url)
    async with tab.expect_response(lambda answer: answer.url.endswith("/conversation")):
        await keep(other, "anne", "New words.", replace=True)
    await expect(spoken_as(tab)).to_have_text(SPEAKS.format("anne"))
    assert (await answered(tab, world)).reference_text == "New words."


async def test_each_tab_has_its_own_and_a_voice_that_is_deleted_is_gone_in_all(tab, world):
    await open_settings(tab)
    other = await tab.context.new_page()
    await open_page(other, world.url)
    await open_settings(other)
    assert await spoken_as(other).is_hidden()
    await open_lab(other)
    await button(other, "Delete Anna").click()
    await button(other, "Delete Anna for good?").click()
    await spoken_as(tab).wait_for(state="hidden")
    await tab.get_by_text("No voice is kept yet.").wait_for()
    assert (await answered(tab, world)).mode is VoiceMode.NAMED


async def test_an_engine_that_only_copies_asks_for_a_kept_voice_beside_the_field(copier, page):
    await open_page(page, copier.url)
    await keep(page)
    await send(page, "hello")
    await page.locator("#voice .field-error").get_by_text(ONLY_COPIES).wait_for()
    await page.get_by_text("This engine has no voice of its own. It cannot").wait_for()
    assert copier.engine.runs == []
    await open_lab(page)
    await use_anna(page)
    await expect(spoken_as(page)).to_have_text(SPEAKS.format("Anna"))
    await expect(button(page, "Use the voice of the settings again")).to_be_hidden()
    await page.press("#message textarea", "Enter")
    await last_turn(page)
    assert copier.engine.runs[-1].settings.voice.reference_text == "One two."
    await page.locator("#voice .field-error").wait_for(state="detached")


async def test_it_fits_a_phone(world, browser):
    context = await browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    phone = await context.new_page()
    await open_page(phone, world.url)
    await keep(phone, "n" * 64)
    await open_lab(phone)
    await button(phone, "Use nnn").tap()
    await open_settings(phone)
    await expect(spoken_as(phone)).to_have_text(SPEAKS.format("n" * 64))
    assert await phone.evaluate("document.documentElement.scrollWidth") <= 390
    await context.close()
