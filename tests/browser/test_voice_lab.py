"""A text is spoken as it is: heard while it is made, heard again, and kept as a file."""

from __future__ import annotations

import numpy as np
import pytest
import pytest_asyncio
import soundfile
from playwright.async_api import expect

from backend.contract.events import SpeechChunk
from backend.contract.voice import VoiceControls
from backend.runtime.engine_thread import EngineThread
from backend.voices.watermark import watermarked
from tests.browser.listening import Ear, trimmed
from tests.browser.world import assert_heard, gate_opens, open_page, scripted
from tests.scripted_engine import RATE, ScriptedEngine, say, tone
from tests.serving import serve

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

TWO_VOICES = VoiceControls(speakers=("low", "high"), changes_speed=True)


async def recite(engine, turn):
    """A tone; of a text with "wait" in it the second half comes when the gate opens."""
    first, second = tone(0.2), tone(0.4)[len(tone(0.2)) :]
    yield SpeechChunk(turn_id=turn.id, pcm=first, sample_rate=RATE)
    if "wait" in turn.script:
        await gate_opens()
        yield SpeechChunk(turn_id=turn.id, pcm=second, sample_rate=RATE)
    if "break" in turn.script:
        raise ValueError("broken")


@pytest.fixture(scope="module")
def world():
    with scripted(recite, voice=TWO_VOICES, recites=True) as world:
        yield world


@pytest_asyncio.fixture(loop_scope="session")
async def lab(world, browser):
    page = await browser.new_page()
    await open_lab(page, world.url)
    yield page
    await page.close()


async def open_lab(page, url):
    await open_page(page, url)
    await page.get_by_text("Voice lab", exact=True).click()


def download_button(lab, kind):
    return lab.get_by_role("button", name=f"Download this take as {kind}")


async def speak(lab, text):
    await lab.fill("#lab-text", text)
    await lab.click("#lab-speak")


async def test_a_text_is_heard_in_the_chosen_voice_and_speed(lab, world):
    ear = await Ear.listen(lab)
    await lab.get_by_label("Voice", exact=True).select_option("high")
    await lab.get_by_text("More", exact=True).click()
    await lab.get_by_label("Speed", exact=True).fill("1.5")
    await speak(lab, "Good morning.")
    assert_heard(await ear.reply())
    await lab.get_by_text("high, scripted · 0.20 s · first sound after").wait_for()
    turn = world.engine.runs[-1]
    assert (turn.script, turn.text, turn.history) == ("Good morning.", "", ())
    assert (turn.settings.voice.speaker, turn.settings.voice_speed) == ("high", 1.5)
    assert await lab.locator(".turn").count() == 0


async def test_it_is_heard_while_the_rest_is_still_made(lab, gate):
    ear = await Ear.listen(lab)
    await speak(lab, "Please wait.")
    await ear.begun()
    await lab.get_by_text("0.2 s made").wait_for()
    assert await lab.get_by_role("button", name="Download this take").count() == 0
    gate.set()
    await download_button(lab, "WAV").wait_for()


@pytest.mark.parametrize("kind", ["WAV", "FLAC", "MP3"])
async def test_a_take_is_a_file_that_says_what_it_is(lab, kind):
    await speak(lab, "Good morning.")
    async with lab.expect_download() as download:
        await download_button(lab, kind).click()
    path = await (await download.value).path()
    with soundfile.SoundFile(path) as file:
        samples = file.read(dtype="float32")
        notes = (file.format, file.samplerate, file.artist, file.comment)
    assert notes == (kind, RATE, "scripted, voice low", "Synthetic speech")
    if kind != "MP3":
        assert np.allclose(samples, watermarked(tone(0.2), RATE), atol=1e-3)


async def test_a_take_is_heard_again_and_thrown_away(lab):
    ear = await Ear.listen(lab)
    await speak(lab, "Good morning.")
    first = await ear.reply()
    await lab.get_by_role("button", name="Play this take again").click()
    assert trimmed(await ear.reply()) == first
    await lab.get_by_role("button", name="Remove this take").click()
    assert await lab.locator(".take").count() == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("  ", "Write something to speak first."),
        ("a" * 20_001, "The input has 20,001 characters; the limit is 20,000."),
        ("To break.", "The sound broke off before its end. Please try again."),
    ],
)
async def test_what_goes_wrong_is_said_beside_the_text_and_the_next_is_spoken(lab, text, words):
    await speak(lab, text)
    error = lab.locator("form.lab > .lab-error")
    await error.get_by_text(words).wait_for()
    await expect(lab.locator(".take")).to_have_count(0)
    assert await lab.input_value("#lab-text") == text
    await speak(lab, "Good morning.")
    await download_button(lab, "WAV").wait_for()
    await expect(error).to_be_hidden()


@pytest.mark.parametrize("way", ["button", "escape"])
async def test_stopping_stops_the_voice_too(lab, world, until, gate, way):
    ear = await Ear.listen(lab)
    await speak(lab, "Please wait.")
    await ear.begun()
    if way == "button":
        await lab.get_by_role("button", name="Stop speaking").click()
    else:
        await lab.keyboard.press("Escape")
    await until(lambda: world.engine.running == 0)
    await expect(lab.locator(".take")).to_have_count(0)
    assert await ear.quiet_now()


async def test_the_text_survives_a_reload(lab, world):
    await lab.fill("#lab-text", "Not lost.")
    await lab.get_by_label("Voice", exact=True).select_option("high")
    await lab.reload()
    await lab.wait_for_selector(".engine[data-state=ready]")
    await lab.get_by_text("Voice lab", exact=True).click()
    await expect(lab.locator("#lab-text")).to_have_value("Not lost.")
    await expect(lab.get_by_label("Voice", exact=True)).to_have_value("high")


async def test_an_engine_that_only_speaks_leaves_the_lab_alone_on_the_page(browser):
    page = await browser.new_page()
    engine = ScriptedEngine(recite, voice=TWO_VOICES, recites=True, answers=False)
    with serve(EngineThread(lambda: engine)) as url:
        await open_lab(page, url)
        await page.get_by_text("answers no questions. Open the Voice lab.").wait_for()
        for part in ("#transcript-host", "#call-host", "#compose-row", "#media", "#examples"):
            await expect(page.locator(part)).to_have_count(1)
            await expect(page.locator(part)).to_be_hidden()
        await speak(page, "Good morning.")
        await download_button(page, "WAV").wait_for()
        await page.close()


async def test_an_engine_that_speaks_only_its_own_replies_says_so(browser):
    page = await browser.new_page()
    with serve(EngineThread(lambda: ScriptedEngine(say()))) as url:
        await open_lab(page, url)
        await page.get_by_text("speaks only its own replies").wait_for()
        assert await page.locator("#lab-speak").is_disabled()
        await page.close()
