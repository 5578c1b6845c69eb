"""A voice is checked, mended, kept, spoken with, found again, and thrown away."""

from __future__ import annotations

from pathlib import Path

import pytest
import pytest_asyncio
import soundfile
from playwright.async_api import expect

from backend.contract.events import SpeechChunk
from backend.contract.voice import VoiceControls, VoiceMode
from tests.browser.test_voice_lab import open_lab, speak
from tests.browser.world import last_turn, scripted, send
from tests.scripted_engine import RATE, tone

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

QUESTION = Path(__file__).parents[2] / "assets" / "question.wav"
SAID = "What is the largest ocean on earth?"
CLONES = VoiceControls(
    modes=(VoiceMode.NAMED, VoiceMode.CLONE), speakers=("Vivian",), reference_s=(1, 30)
)


async def recite(engine, turn):
    yield SpeechChunk(turn_id=turn.id, pcm=tone(0.2), sample_rate=RATE)


@pytest.fixture(scope="module")
def world():
    with scripted(recite, voice=CLONES, recites=True, words=SAID) as world:
        yield world


@pytest_asyncio.fixture(loop_scope="session")
async def lab(world, browser):
    """A page of a browser that has kept nothing yet."""
    context = await browser.new_context()
    page = await context.new_page()
    await open_lab(page, world.url)
    await page.get_by_text("Keep a voice", exact=True).click()
    yield page
    await context.close()


def button(page, name):
    return page.get_by_role("button", name=name)


async def kept_in(page) -> int:
    return await page.locator("#kept-voices .take").count()


async def keep(page, name="Anna"):
    await keep_all_but_the_end(page, name)
    await page.click("#keep-save")


async def keep_all_but_the_end(page, name="Anna"):
    await page.set_input_files("#keep-file", QUESTION)
    await page.fill("#keep-words", SAID)
    await page.fill("#keep-name", name)
    await page.get_by_text("All 7 words of the text were heard").wait_for()
    await page.get_by_label("Whoever speaks in this recording agrees").check()


async def test_what_is_wrong_with_the_words_is_named_and_mended(lab):
    await lab.fill("#keep-words", "What is the biggest ocean on earth?")
    await lab.set_input_files("#keep-file", QUESTION)
    await lab.get_by_text("Not heard: “biggest”. Heard but not written: “largest”").wait_for()
    await button(lab, "Use the words that were heard").click()
    await lab.get_by_text("All 7 words of the text were heard").wait_for()
    assert await lab.input_value("#keep-words") == SAID
    assert await lab.get_by_role("img", name="seconds, those from").is_visible()


async def test_consent_is_given_for_one_recording(lab):
    consent = lab.get_by_label("Whoever speaks in this recording agrees")
    await lab.set_input_files("#keep-file", QUESTION)
    await consent.check()
    await lab.set_input_files("#keep-file", QUESTION)
    await expect(consent).not_to_be_checked()


async def test_words_that_were_changed_last_are_looked_at_before_the_voice_is_kept(lab):
    await keep_all_but_the_end(lab)
    await lab.fill("#keep-words", "word " * 90)
    await lab.click("#keep-save")
    await lab.get_by_text("Mend what is marked with ✕ first.").wait_for()
    assert await kept_in(lab) == 0


async def test_a_clip_in_which_nobody_speaks_is_not_kept(lab, tmp_path):
    soundfile.write(tmp_path / "tone.wav", tone(4.0), RATE)
    await lab.set_input_files("#keep-file", tmp_path / "tone.wav")
    await lab.locator(".finding[data-severity=stop]").first.wait_for()
    await lab.click("#keep-save")
    await lab.get_by_text("Mend what is marked with ✕ first.").wait_for()
    assert await kept_in(lab) == 0


async def test_a_file_that_is_no_sound_is_refused_in_words(lab, tmp_path):
    (tmp_path / "no.wav").write_bytes(b"no sound at all")
    await lab.set_input_files("#keep-file", tmp_path / "no.wav")
    await lab.locator("#keep-voice .lab-error").get_by_text("cannot be read").wait_for()
    assert await lab.locator(".finding").count() == 0


async def test_a_voice_is_recorded(lab):
    await lab.click("#keep-record")
    await button(lab, "Record the voice").get_by_text("(1.").wait_for()
    await lab.click("#keep-record")
    await lab.locator(".finding").first.wait_for()  # the fake microphone beeps
    assert await lab.locator(".lab-audio").evaluate("(audio) => audio.src.startsWith('blob:')")


async def test_nothing_is_kept_without_a_name_or_consent(lab):
    await lab.click("#keep-save")
    await lab.get_by_text("Record the voice first").wait_for()
    await lab.set_input_files("#keep-file", QUESTION)
    await button(lab, "Use the words that were heard").click()
    await lab.get_by_text("All 7 words").wait_for()
    await lab.click("#keep-save")
    await lab.get_by_text("Give the voice a name.").wait_for()
    await lab.fill("#keep-name", "Anna")
    await lab.click("#keep-save")
    await lab.get_by_text("Confirm that whoever speaks agrees").wait_for()
    assert await kept_in(lab) == 0


async def test_a_kept_voice_is_spoken_with_and_found_after_a_reload(lab, world):
    await keep(lab)
    await lab.get_by_text("Anna is kept.").wait_for()
    await lab.reload()
    await lab.wait_for_selector(".engine[data-state=ready]")
    await lab.get_by_text("Voice lab", exact=True).click()
    await lab.get_by_label("Voice", exact=True).select_option("Anna")
    await speak(lab, "Good morning.")
    await lab.get_by_text("Anna, scripted · 0.20 s").wait_for()
    voice = world.engine.runs[-1].settings.voice
    assert (voice.mode, voice.reference_text) == (VoiceMode.CLONE, SAID)
    assert voice.reference_audio.sample_rate == 24_000


async def test_the_conversation_answers_in_a_kept_voice_until_it_is_taken_away(lab, world):
    await keep(lab)
    await lab.get_by_text("Kept voices", exact=True).click()
    await button(lab, "Use Anna in the conversation").click()
    await button(lab, "Stop using Anna in the conversation").wait_for()
    await send(lab, "Hello.")
    await last_turn(lab)
    assert world.engine.runs[-1].settings.voice.reference_text == SAID
    await lab.reload()
    await lab.wait_for_selector(".engine[data-state=ready]")
    await lab.get_by_text("Voice lab", exact=True).click()
    await lab.get_by_text("Kept voices", exact=True).click()
    await button(lab, "Stop using Anna in the conversation").click()
    await button(lab, "Use Anna in the conversation").wait_for()
    await send(lab, "Hello again.")
    await last_turn(lab, count=2)
    assert world.engine.runs[-1].settings.voice.mode is not VoiceMode.CLONE


async def test_a_name_is_used_again_only_to_replace(lab):
    await keep(lab)
    await lab.get_by_text("Anna is kept.").wait_for()
    await keep(lab, " anna ")
    await lab.get_by_text("You have a voice called anna already").wait_for()
    await button(lab, "Save in place of the voice").click()
    await lab.get_by_text("anna is kept").wait_for()
    await expect(lab.locator("#kept-voices .take")).to_have_count(1)


async def test_kept_voices_are_renamed_and_deleted_after_a_second_thought(lab):
    await keep(lab)
    await lab.get_by_text("Kept voices", exact=True).click()
    await lab.get_by_label("Name of Anna").fill("Vivian")
    await lab.keyboard.press("Enter")
    await lab.get_by_text("The engine has a voice of its own called Vivian").wait_for()
    await lab.get_by_label("Name of Anna").fill("Anne")
    await lab.keyboard.press("Enter")
    await button(lab, "Delete Anne").click()
    await button(lab, "Delete Anne for good?").click()
    await lab.get_by_text("No voice is kept yet.").wait_for()
    assert await kept_in(lab) == 0


async def test_a_voice_is_seen_by_others_only_when_it_is_shared(lab, world, browser):
    await keep(lab)
    await lab.get_by_text("Kept voices", exact=True).click()
    context = await browser.new_context()
    other = await context.new_page()
    await open_lab(other, world.url)
    await expect(other.get_by_label("Voice", exact=True).locator("option")).to_have_text(["Vivian"])
    await button(lab, "Share Anna").click()
    await button(lab, "Stop sharing Anna").wait_for()
    await open_lab(other, world.url)
    await expect(other.get_by_label("Voice", exact=True).locator("option")).to_have_text(
        ["Vivian", "Anna"]
    )
    await button(lab, "Stop sharing Anna").click()
    await context.close()


async def test_voices_are_exported_imported_and_found_by_their_tags(lab, world, browser, tmp_path):
    await lab.get_by_text("Kept voices", exact=True).click()
    await expect(button(lab, "Export my voices")).to_be_hidden()
    await keep(lab)
    async with lab.expect_download() as download:
        await button(lab, "Export my voices").click()
    await (await download.value).save_as(tmp_path / "voices.zip")
    await lab.set_input_files("#voices-file", tmp_path / "voices.zip")
    await lab.get_by_text("“Anna” is called “Anna (2)” here, since the name was taken.").wait_for()
    lines = lab.locator("#kept-voices .take")
    await expect(lines).to_have_count(2)
    await lab.get_by_label("Tags of Anna (2)").fill("calm,  German, ")
    await lab.keyboard.press("Enter")
    await expect(lab.get_by_label("Tags of Anna (2)")).to_have_value("calm, German")
    await lab.get_by_label("Find a kept voice by name or tag").fill("german anna")
    await expect(lines).to_have_count(1)
    await lab.get_by_label("Find a kept voice by name or tag").fill("")
    await expect(lines).to_have_count(2)
    context = await browser.new_context()
    other = await context.new_page()
    await open_lab(other, world.url)
    await other.get_by_text("Kept voices", exact=True).click()
    await other.set_input_files("#voices-file", tmp_path / "voices.zip")
    await other.get_by_text("1 voice came in.").wait_for()
    await other.get_by_label("Name of Anna").wait_for()
    await context.close()


async def test_a_file_that_is_no_zip_of_voices_is_refused_in_words(lab, tmp_path):
    (tmp_path / "voices.zip").write_bytes(b"no zip, but longer than the end of one has to be")
    await lab.get_by_text("Kept voices", exact=True).click()
    await lab.set_input_files("#voices-file", tmp_path / "voices.zip")
    await lab.get_by_text("This is not a zip of voices, or it is damaged.").wait_for()
    assert await kept_in(lab) == 0


async def test_keeping_a_voice_fits_a_phone(world, browser):
    context = await browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    phone = await context.new_page()
    await open_lab(phone, world.url)
    await phone.get_by_text("Keep a voice", exact=True).tap()
    await keep(phone, "n" * 64)
    await phone.get_by_text("Kept voices", exact=True).tap()
    await phone.locator("#kept-voices .take").wait_for()
    assert await phone.evaluate("document.documentElement.scrollWidth") <= 390
    await context.close()
