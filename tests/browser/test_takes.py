"""Takes of one text: made in many ways, judged, and compared without knowing which is which."""

from __future__ import annotations

import numpy as np
import pytest
import pytest_asyncio
from playwright.async_api import expect

from backend.contract.events import SpeechChunk
from backend.contract.voice import VoiceControls, VoiceMode
from backend.runtime.engine_thread import EngineThread
from tests.browser.listening import Ear, trimmed
from tests.browser.test_voice_lab import open_lab, speak
from tests.browser.world import scripted
from tests.scripted_engine import RATE, ScriptedEngine, tone
from tests.serving import serve

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

TEXT = "Seven brown foxes."
RICH = VoiceControls(
    speakers=("low", "high"),
    languages=("auto", "de", "en"),
    style_chars=20,
    takes_sampling=True,
)
DESIGNS = VoiceControls(modes=(VoiceMode.DESIGN,), style_chars=200)


async def recite(engine, turn):
    """A tone whose pitch tells the voice."""
    hz = 880 if turn.settings.voice.speaker == "high" else 440
    yield SpeechChunk(turn_id=turn.id, pcm=tone(0.4, hz), sample_rate=RATE)


@pytest.fixture(scope="module")
def world():
    with scripted(recite, voice=RICH, recites=True, words=TEXT) as world:
        yield world


@pytest_asyncio.fixture(loop_scope="session")
async def lab(world, browser):
    """A page of a browser that remembers nothing yet."""
    context = await browser.new_context()
    page = await context.new_page()
    await open_lab(page, world.url)
    await page.get_by_text("More", exact=True).click()
    yield page
    await context.close()


async def pick(page, label, value):
    await page.get_by_label(label, exact=True).select_option(value)


def pressed(page, name):
    return page.get_by_role("button", name=name, exact=True)


async def test_what_the_engine_can_do_is_asked_of_it(lab, world):
    await lab.get_by_label("Style", exact=True).fill("slow and warm")
    await pick(lab, "Language to speak", "German")
    await lab.get_by_label("Variation").fill("0.4")
    await lab.get_by_label("Seed").fill("7")
    await speak(lab, TEXT)
    await lab.get_by_text("Take 1 · low, scripted · 0.40 s · seed 7").wait_for()
    settings = world.engine.runs[-1].settings
    assert (settings.voice.style, settings.voice.language) == ("slow and warm", "de")
    assert (settings.seed, settings.temperature) == (7, 0.4)
    assert await lab.get_by_label("Speed", exact=True).is_hidden()


async def test_several_takes_are_made_at_once_each_with_a_seed_of_its_own(lab, world):
    ear = await Ear.listen(lab)
    await pick(lab, "Takes", "3")
    await lab.get_by_label("Seed").fill("5")
    await speak(lab, TEXT)
    await ear.reply(3)
    await expect(lab.locator(".take")).to_have_count(3)
    assert [turn.settings.seed for turn in world.engine.runs[-3:]] == [5, 6, 7]


async def test_a_seed_that_is_none_is_refused_beside_the_text(lab, world):
    before = len(world.engine.runs)
    await lab.get_by_label("Seed").fill("-1")
    await speak(lab, TEXT)
    await lab.get_by_text("The seed is a whole number").wait_for()
    assert len(world.engine.runs) == before


async def test_the_characters_of_a_style_are_counted(lab):
    await lab.get_by_label("Style", exact=True).fill("x" * 21)
    counter = lab.get_by_text("21 of 20 characters")
    assert "over" in await counter.get_attribute("class")


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (TEXT, "All words were heard back"),
        ("Seven red foxes.", "Word error rate 33 % (not heard: “red”; heard instead: “brown”)"),
    ],
)
async def test_a_take_is_judged_by_the_words_that_are_heard_back(lab, text, verdict):
    await speak(lab, text)
    await expect(lab.locator(".take-quality").first).to_contain_text(verdict)


async def test_two_voices_are_compared_blind_and_the_better_one_is_counted(lab):
    await lab.fill("#lab-text", TEXT)
    await lab.get_by_text("Compare blind", exact=True).click()
    await pressed(lab, "Speak the text in both voices").click()
    await pressed(lab, "Hear the first").wait_for()
    ear = await Ear.listen(lab)
    assert await pressed(lab, "The first is better").is_disabled()
    await pressed(lab, "Hear the first").click()
    first = pitch_of(await ear.reply())
    await pressed(lab, "Hear the second").click()
    second = pitch_of(await ear.reply())
    assert {first, second} == {440, 880}
    await pressed(lab, "The second is better").click()
    names = {440: "low, scripted", 880: "high, scripted"}
    told = f"The first was {names[first]}, the second was {names[second]}."
    await lab.get_by_text(told).wait_for()
    liked = "high" if second == 880 else "low"
    row = f"high, scripted {int(liked == 'high')} low, scripted {int(liked == 'low')} 0"
    await lab.get_by_role("row", name=row).wait_for()


async def test_two_takes_are_compared_and_the_tally_survives_a_reload(lab, world):
    await speak(lab, TEXT)
    await pressed(lab, "Download this take as WAV").wait_for()
    await pick(lab, "Voice", "high")
    await speak(lab, TEXT)
    compare = lab.get_by_role("button", name="Compare this take")
    await expect(compare).to_have_count(2)
    await compare.first.click()
    assert await compare.first.get_attribute("aria-pressed") == "true"
    await compare.last.click()
    for place in ("first", "second"):
        await pressed(lab, f"Hear the {place}").click()
    await pressed(lab, "No difference").click()
    await lab.reload()
    await lab.get_by_text("Voice lab", exact=True).click()
    await lab.get_by_text("Compare blind", exact=True).click()
    await lab.get_by_role("row", name="high, scripted 0 low, scripted 0 1").wait_for()
    await lab.set_viewport_size({"width": 390, "height": 844})
    assert await lab.evaluate("document.documentElement.scrollWidth") <= 390


async def test_takes_of_different_texts_are_not_compared(lab):
    compare = lab.get_by_role("button", name="Compare this take")
    for count, words in enumerate((TEXT, "Other words."), 1):
        await speak(lab, words)
        await expect(compare).to_have_count(count)
        await compare.first.click()
    await lab.get_by_text("These two takes say different texts.").wait_for()


async def test_a_voice_that_is_made_up_from_a_description_asks_for_one(browser):
    engine = ScriptedEngine(recite, voice=DESIGNS, recites=True)
    context = await browser.new_context()
    page = await context.new_page()
    with serve(EngineThread(lambda: engine)) as url:
        await open_lab(page, url)
        await speak(page, TEXT)
        await page.get_by_text("Describe the voice under Style first").wait_for()
        await page.get_by_label("Style", exact=True).fill("an old man")
        await page.click("#lab-speak")
        await pressed(page, "Download this take as WAV").wait_for()
        await context.close()
    assert engine.runs[-1].settings.voice.style == "an old man"


async def test_a_speaker_in_a_style_is_kept_as_a_voice(lab, world):
    await lab.get_by_text("Keep a voice", exact=True).click()
    await pick(lab, "Kind of voice", "A voice of the engine, in a style")
    assert await lab.locator("#keep-file").is_hidden()
    await pick(lab, "Speaker", "high")
    await lab.fill("#keep-name", "Whisperer")
    await lab.click("#keep-save")
    await lab.get_by_text("Describe it first").wait_for()
    await lab.get_by_label("Description").fill("a whisper")
    await lab.click("#keep-save")
    await lab.get_by_text("Whisperer is kept.").wait_for()
    await pick(lab, "Voice", "Whisperer")
    await speak(lab, TEXT)
    await lab.get_by_text("Whisperer, scripted · 0.40 s").wait_for()
    voice = world.engine.runs[-1].settings.voice
    assert (voice.mode, voice.speaker, voice.style) == (VoiceMode.NAMED, "high", "a whisper")
    await lab.get_by_text("Kept voices", exact=True).click()
    assert await lab.get_by_role("button", name="Hear the recording").count() == 0


def pitch_of(pcm16: bytes) -> int:
    """The pitch of a tone, to the next 440 Hz."""
    samples = np.frombuffer(trimmed(pcm16), "<i2")
    peak = np.abs(np.fft.rfft(samples)).argmax() * RATE / len(samples)
    return 440 * round(peak / 440)
