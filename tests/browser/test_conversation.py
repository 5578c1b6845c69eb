"""A person's first minutes with the real engine: ask aloud, type, show, and hear the answers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import async_playwright

from app import make_engine_thread
from backend.settings import Settings
from tests.browser.conftest import CHROMIUM_ARGS
from tests.browser.listening import Ear, at_rate, trimmed
from tests.serving import serve

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

ASSETS = Path(__file__).parents[2] / "assets"
VOICE_RATE = 22_050
ANSWER_TIMEOUT_MS = 60_000


@pytest.fixture(scope="module")
def url():
    settings = Settings(_env_file=None)
    with serve(make_engine_thread(settings), settings) as address:
        yield address


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser():
    """Chromium whose microphone speaks the sample question once, each time it is opened."""
    microphone = f"--use-file-for-fake-audio-capture={ASSETS / 'question.wav'}%noloop"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=[*CHROMIUM_ARGS, microphone]
        )
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="module")
async def tab(browser, url):
    page = await browser.new_page()
    await page.add_init_script(at_rate(VOICE_RATE))
    await page.goto(url)
    await page.wait_for_selector(".engine[data-state=ready]", timeout=120_000)
    yield page
    await page.close()


async def answered(tab, count: int = 1):
    turn = tab.locator(f".turn:nth-of-type({count})[data-outcome=answered]")
    await turn.wait_for(timeout=ANSWER_TIMEOUT_MS)
    return turn


async def test_a_spoken_question_is_heard_and_answered_aloud(tab):
    ear = await Ear.listen(tab)
    await tab.click("#talk")
    await tab.wait_for_selector("#talk[data-state=recording]")
    await tab.wait_for_timeout(3_200)
    await tab.click("#talk")
    await ear.hold()
    turn = await answered(tab)
    await ear.release()
    assert "largest ocean on earth" in (await turn.locator(".heard").inner_text()).lower()
    assert len(await turn.locator(".reply").inner_text()) > 10
    heard = await ear.reply()
    link = await turn.get_by_role("link", name="Download").get_attribute("href")
    wav = await (await tab.request.get(link)).body()
    made = trimmed(wav[44:])
    assert heard[: len(made)] == made
    assert len(heard) - len(made) <= 2 * 0.005 * VOICE_RATE
    for stage in ("hear", "think", "speak", "sound"):
        time = await tab.inner_text(f".chip[data-stage={stage}] .chip-time")
        assert time.endswith(" s"), stage


async def test_silence_on_the_microphone_is_answered_by_silence(tab):
    await tab.click("#talk")
    await tab.wait_for_selector("#talk[data-state=recording]")
    await tab.wait_for_timeout(500)
    await tab.get_by_role("tab", name="Sound file").click()
    await tab.keyboard.press("Escape")
    await tab.locator("#sound-file input[type=file]").set_input_files(ASSETS / "silence.wav")
    await tab.wait_for_selector("#sound-file [data-testid^=waveform]")
    await tab.click("#send")
    turn = tab.locator(".turn[data-outcome=silent]")
    await turn.wait_for(timeout=ANSWER_TIMEOUT_MS)
    assert "No speech was heard" in await turn.locator(".quiet-mark").inner_text()


async def test_a_video_is_seen_and_its_question_heard(tab):
    await tab.get_by_text("A video with a question").click()
    await tab.wait_for_function("document.querySelector('#video video')?.src")
    await tab.click("#send")
    turn = await answered(tab)
    assert "sign" in (await turn.locator(".heard").inner_text()).lower()
    await turn.locator("summary").click()
    assert "LIBRARY" in await turn.locator(".scene p").inner_text()


async def test_typed_words_are_answered_turn_after_turn(tab):
    ear = await Ear.listen(tab)
    for number, words in enumerate(["Hello.", "What do bees make?", "Thanks."], 1):
        await tab.fill("#message textarea", words)
        await tab.press("#message textarea", "Enter")
        turn = await answered(tab, number)
        assert await turn.locator(".asked .words").first.inner_text() == words
        assert len(await ear.reply()) > VOICE_RATE // 5
