"""A file of texts is checked, spoken item by item and handed out, over reloads and restarts."""

from __future__ import annotations

import asyncio
import csv
import io
import zipfile

import pytest
import pytest_asyncio
import soundfile
from playwright.async_api import expect

from backend.contract.events import SpeechChunk
from backend.contract.voice import VoiceControls
from backend.runtime.engine_thread import EngineThread
from backend.settings import Settings
from tests.browser.world import World, gate_opens, open_page
from tests.scripted_engine import RATE, ScriptedEngine, tone
from tests.serving import serve

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

TWO_VOICES = VoiceControls(speakers=("low", "high"), changes_speed=True)
TABLE = """name;text;voice;speed
Intro;Good morning, everybody.;;
Empty;;;
Who;Hello.;nobody;
Fast;Hello again.;high;fast
Outro;Good night.;high;1,5
"""


async def recite(engine, turn):
    """A tone; of a text with "wait" in it the end comes when the gate opens."""
    yield SpeechChunk(turn_id=turn.id, pcm=tone(0.5), sample_rate=RATE)
    if "wait" in turn.script:
        await gate_opens()
    if "stubborn" in turn.script and sum(run.script == turn.script for run in engine.runs) < 2:
        raise ValueError("not yet")


def an_engine():
    return ScriptedEngine(recite, voice=TWO_VOICES, recites=True)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    engines = []

    def make():
        engines.append(an_engine())
        return engines[-1]

    settings = Settings(_env_file=None, data_dir=tmp_path_factory.mktemp("data"))
    with serve(EngineThread(make), settings) as url:
        yield World(url, engines)


@pytest_asyncio.fixture(loop_scope="session")
async def lab(world, browser):
    context = await browser.new_context()
    page = await context.new_page()
    await open_batches(page, world.url)
    yield page
    await context.close()


async def open_batches(page, url):
    await open_page(page, url)
    await page.get_by_text("Voice lab", exact=True).click()
    await page.get_by_text("Speak a file").click()


async def choose(page, text, name="lines.txt", encoding="utf-8"):
    file = {"name": name, "mimeType": "text/plain", "buffer": text.encode(encoding)}
    await page.set_input_files("#batch-file", file)


async def press(page, name):
    await page.get_by_role("button", name=name).click()


async def zip_of(page):
    async with page.expect_download() as download:
        await page.get_by_role("link", name="Download what is spoken").click()
    done = await download.value
    data = await asyncio.to_thread((await done.path()).read_bytes)
    return done.suggested_filename, zipfile.ZipFile(io.BytesIO(data))


async def test_what_is_wrong_is_shown_by_line_and_the_rest_is_spoken_when_asked(lab, world):
    before = len(world.engine.runs)
    await choose(lab, TABLE, "table.csv")
    card = lab.locator(".batch")
    await card.get_by_text("5 items · 3 of them cannot be spoken").wait_for()
    wrong = card.locator(".batch-wrong li")
    await expect(wrong.nth(0)).to_have_text("Line 3, Empty: There is no text on this line.")
    await expect(wrong.nth(1)).to_contain_text("Line 4, Who: There is no voice called nobody.")
    await expect(wrong.nth(2)).to_contain_text("Line 5, Fast: The speed must be a number")
    await press(lab, "Start table.csv")
    await card.get_by_text("3 of 5 items cannot be spoken. Mend the file").wait_for()
    assert len(world.engine.runs) == before
    await card.get_by_label("Voice of items that name none").select_option("high")
    await card.get_by_label("Format").select_option("flac")
    await card.get_by_label("Leave out what cannot be spoken").check()
    await press(lab, "Start table.csv")
    await card.get_by_text("Finished · 2 of 2 items spoken · 3 left out").wait_for()
    name, archive = await zip_of(lab)
    assert name == "table.zip"
    assert archive.namelist() == ["manifest.csv", "001-intro.flac", "005-outro.flac"]
    samples, rate = soundfile.read(io.BytesIO(archive.read("001-intro.flac")))
    assert len(samples) / rate == pytest.approx(0.5, abs=0.001)
    table = csv.DictReader(io.StringIO(archive.read("manifest.csv").decode("utf-8-sig")))
    assert [row["error"][:16] for row in table] == [
        "",
        "There is no text",
        "There is no voic",
        "The speed must b",
        "",
    ]
    assert [turn.settings.voice_speed for turn in world.engine.runs[before:]] == [1.0, 1.5]


async def test_progress_is_seen_stopped_and_found_again_after_a_reload(lab, world, gate):
    await choose(lab, "One.\nPlease wait.\nThree.\n")
    await press(lab, "Start lines.txt")
    card = lab.locator(".batch")
    await card.get_by_text("1 of 3 items spoken · 1.0 s of sound · about").wait_for()
    await card.get_by_text("Speaking item 2, “Please wait.”: 0.5 s").wait_for()
    bar = lab.get_by_role("progressbar", name="How much of lines.txt is through")
    assert [await bar.get_attribute("max"), await bar.evaluate("bar => bar.value")] == ["3", 1]
    await lab.get_by_text("Speak a file (1 being spoken)").wait_for()
    await press(lab, "Stop lines.txt")
    await card.get_by_text("Stopped · 1 of 3 items spoken · 0.5 s of sound").wait_for()
    await expect(lab.get_by_role("button", name="Resume lines.txt")).to_be_focused()
    await lab.reload()
    await open_batches(lab, world.url)
    await card.get_by_text("Stopped · 1 of 3 items spoken").wait_for()
    await press(lab, "Resume lines.txt")
    await card.get_by_text("Speaking item 2").wait_for()
    await lab.goto("about:blank")
    gate.set()
    await open_batches(lab, world.url)
    await card.get_by_text("Finished · 3 of 3 items spoken · 1.5 s of sound").wait_for()
    assert [turn.script for turn in world.engine.runs].count("One.") == 1


async def test_an_item_that_fails_is_named_and_tried_again(lab):
    await choose(lab, "One.\nThis is stubborn.\nThree.\n")
    await press(lab, "Start lines.txt")
    card = lab.locator(".batch")
    await card.get_by_text("Finished · 2 of 3 items spoken · 1 failed").wait_for()
    await card.get_by_text("Line 2: This went wrong: not yet").wait_for()
    await press(lab, "Try the failed items of lines.txt again")
    await card.get_by_text("Finished · 3 of 3 items spoken · 1.5 s").wait_for()
    await expect(card.locator(".batch-wrong")).to_be_hidden()
    await press(lab, "Delete lines.txt")
    assert await card.count() == 1
    await press(lab, "Delete lines.txt for good?")
    await card.wait_for(state="detached")


@pytest.mark.parametrize(
    ("text", "name", "encoding", "words"),
    [
        ("Hello.\n", "lines.docx", "utf-8", "Choose a .txt or a .csv file"),
        ("words;voice\n", "table.csv", "utf-8", "one has to be called text. It says: words;voice"),
        ("Привет, как дела?\n", "lines.txt", "cp1251", "Save it as UTF-8 first."),
    ],
)
async def test_a_file_that_cannot_be_read_says_what_to_do(lab, text, name, encoding, words):
    await choose(lab, text, name, encoding)
    error = lab.locator("#batches .lab-part > .lab-error")
    await error.get_by_text(words).wait_for()
    assert await lab.locator(".batch").count() == 0
    await choose(lab, "Grüße aus Köln.\n", "gut.txt", "cp1252")
    await lab.get_by_text("it was read as Windows Western").wait_for()
    await expect(error.first).to_be_hidden()
    await press(lab, "Delete gut.txt")
    await press(lab, "Delete gut.txt for good?")


async def test_a_restart_of_the_app_stops_a_batch_that_goes_on_from_there(browser, tmp_path, gate):
    settings = Settings(_env_file=None, data_dir=tmp_path)
    first, second = an_engine(), an_engine()
    context = await browser.new_context()
    page = await context.new_page()
    with serve(EngineThread(lambda: first), settings) as url:
        await open_batches(page, url)
        await choose(page, "One.\nPlease wait.\nThree.\n")
        await press(page, "Start lines.txt")
        await page.get_by_text("Speaking item 2").wait_for()
        secret = await page.evaluate("localStorage.getItem('omni-live-owner')")
        await page.goto("about:blank")
    gate.set()
    # The app has another port now, for which the browser would make another secret.
    await page.add_init_script(f"localStorage.setItem('omni-live-owner', '{secret}')")
    with serve(EngineThread(lambda: second), settings) as url:
        await open_batches(page, url)
        await page.get_by_text("The app was restarted. What is done is kept.").wait_for()
        await press(page, "Resume lines.txt")
        await page.get_by_text("Finished · 3 of 3 items spoken").wait_for()
        await context.close()
    assert [turn.script for turn in second.runs] == ["Please wait.", "Three."]


async def test_it_works_on_a_phone(browser, world):
    context = await browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    phone = await context.new_page()
    await open_batches(phone, world.url)
    await choose(
        phone, TABLE.replace("Hello again", "a-very-long-word-without-a-blank" * 9), "t.csv"
    )
    await phone.locator(".batch-wrong").wait_for()
    await phone.get_by_text("All items of").click()
    await phone.locator(".batch-all li").first.wait_for()
    assert await phone.evaluate("document.documentElement.scrollWidth") <= 390
    await phone.get_by_role("button", name="Start t.csv").scroll_into_view_if_needed()
    await context.close()
