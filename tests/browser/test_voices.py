"""The voice part of the settings, on engines that let people choose much, and little."""

from __future__ import annotations

import asyncio

import pytest
import pytest_asyncio
from playwright.async_api import expect

from backend.contract.events import ReplyText, SpeechChunk, Stage, StageStarted, StageTiming
from backend.contract.voice import VoiceControls, VoiceMode, VoiceSpec
from backend.runtime.engine_thread import EngineThread
from backend.settings import Settings
from tests.browser.world import World, gate_opens, last_turn, open_page, send
from tests.scripted_engine import ONE_VOICE, RATE, ScriptedEngine, die, echo, say, tone
from tests.serving import serve
from ui.voice_words import HOW_TO_COPY

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

RICH = VoiceControls(
    modes=(VoiceMode.NAMED, VoiceMode.CLONE),
    speakers=("Vivian", "Ryan"),
    languages=("auto", "en", "de"),
    style_chars=500,
    reference_s=(2, 30),
    changes_speed=True,
    takes_token_ids=True,
)

EVERYTHING = ["Speaker", "Language to speak", "Style", "Voice speed"]


async def staged(engine, turn):
    """Go through all four stages and say what each one took."""
    for stage in Stage:
        yield StageStarted(turn_id=turn.id, stage=stage)
        yield StageTiming(turn_id=turn.id, stage=stage, queue_s=0, first_output_s=0.1, total_s=0.25)
    yield ReplyText(turn_id=turn.id, delta="Done.")
    yield SpeechChunk(turn_id=turn.id, pcm=tone(0.2), sample_rate=RATE)


class LateEngine(ScriptedEngine):
    """Ready once the gate has opened."""

    async def load(self, progress):
        await gate_opens()


@pytest.fixture(scope="module")
def rich():
    """The app on an engine with every control."""
    engines = []

    def make() -> ScriptedEngine:
        engines.append(ScriptedEngine(echo, scripts={"staged": staged}, voice=RICH))
        return engines[-1]

    with serve(EngineThread(make)) as url:
        yield World(url, engines)


@pytest.fixture
def late(gate):
    """Address of the app on an engine that is ready once the gate has opened."""
    with serve(EngineThread(lambda: LateEngine(echo, voice=RICH))) as url:
        yield url


@pytest.fixture
def changing():
    """The app on an engine with every control; the one after it has a single voice."""
    engines = []

    def make() -> ScriptedEngine:
        voice = ONE_VOICE if engines else RICH
        engines.append(ScriptedEngine(echo, scripts={"die": die}, voice=voice))
        return engines[-1]

    with serve(EngineThread(make)) as url:
        yield World(url, engines)


@pytest.fixture
def choosable(gate):
    """The app on a pipeline with every control; one of one voice is ready once the gate opens."""
    engines = {
        "Rich": lambda: ScriptedEngine(echo, voice=RICH),
        "Plain": lambda: LateEngine(say("Plainly.")),
        "Broken": lambda: ScriptedEngine(load_error="No model at /nowhere."),
    }
    settings = Settings(_env_file=None, pipelines=dict.fromkeys(engines, "embedded"))
    with serve(EngineThread(engines), settings) as url:
        yield url


@pytest_asyncio.fixture(loop_scope="session")
async def panel(rich, page):
    """The page of the engine with every control, its settings open."""
    await open_page(page, rich.url)
    await open_settings(page)
    await page.get_by_label("Speaker").wait_for()
    return page


async def open_settings(page) -> None:
    await page.get_by_role("button", name="Settings").click()
    await page.locator("#voice").wait_for()


async def choose(page, label: str, option: str) -> None:
    await page.get_by_label(label).click()
    await page.get_by_role("option", name=option).click()


async def refusal(page) -> str:
    line = page.locator("#voice .field-error")
    await line.wait_for()
    return await line.inner_text()


async def test_an_engine_with_every_control_shows_them_all(panel):
    for label in EVERYTHING:
        assert await panel.get_by_label(label).first.is_visible(), label
    await panel.get_by_role("button", name="Advanced").click()
    await panel.get_by_label("Hand over tokens instead of text").wait_for()


async def test_an_engine_that_copies_voices_says_where(panel):
    note = panel.locator("#voice-note")
    await expect(note).to_have_text(HOW_TO_COPY)
    assert await panel.locator("#voice input[type=file]").count() == 0


async def test_an_engine_with_one_voice_shows_why_there_is_no_choice(tab):
    await open_settings(tab)
    await tab.get_by_text("This engine speaks with one voice of its own.").wait_for()
    assert await tab.get_by_label("Voice speed").first.is_visible()
    for label in ("Speaker", "Language to speak", "Style"):
        assert await tab.get_by_label(label).count() == 0, label
    for part in ("#style-counter", "#advanced", "#used-voice-host"):
        assert not await tab.locator(part).is_visible(), part


async def test_characters_of_the_style_are_counted_while_they_are_typed(rich, panel):
    counter = panel.locator("#style-counter p")
    await panel.locator("#voice-style textarea").press_sequentially("warm 😀")
    await counter.get_by_text("6 of 500 characters").wait_for()
    await panel.fill("#voice-style textarea", "x" * 501)
    await panel.locator("#style-counter p.over").wait_for()
    await send(panel, "stay here")
    assert await refusal(panel) == "The style has 501 characters; the limit is 500."
    assert await panel.input_value("#message textarea") == "stay here"
    await panel.fill("#voice-style textarea", "calm")
    await panel.press("#message textarea", "Enter")
    await last_turn(panel)
    assert rich.engine.runs[-1].settings.voice.style == "calm"
    await panel.locator("#voice .field-error").wait_for(state="detached")


async def test_a_mistake_opens_the_settings_and_loses_nothing(rich, panel):
    await panel.fill("#voice-style textarea", "x" * 501)
    for _ in range(2):
        await panel.get_by_role("button", name="Settings").click()
        await panel.locator("#voice").wait_for(state="hidden")
        await send(panel, "stay here")
        assert await refusal(panel) == "The style has 501 characters; the limit is 500."
        await panel.wait_for_function(
            "() => { const { top } = document.querySelector('#voice .field-error')"
            ".getBoundingClientRect(); return top >= 0 && top < innerHeight }"
        )
        assert await panel.input_value("#message textarea") == "stay here"
    assert await panel.locator(".turn").count() == 0
    await panel.fill("#voice-style textarea", "")
    await panel.press("#message textarea", "Enter")
    await last_turn(panel)
    assert rich.engine.runs[-1].text == "stay here"
    assert rich.engine.runs[-1].settings.voice == VoiceSpec(VoiceMode.NAMED, "Vivian")


async def test_choices_survive_a_reload(rich, panel):
    await choose(panel, "Speaker", "Ryan")
    await choose(panel, "Language to speak", "Deutsch")
    await panel.fill("#voice-style textarea", "warm")
    await asyncio.sleep(0.5)
    await panel.reload()
    await open_settings(panel)
    await panel.get_by_label("Speaker").wait_for()
    assert await panel.input_value("#voice-style textarea") == "warm"
    assert await panel.inner_text("#style-counter p") == "4 of 500 characters"
    assert await panel.get_by_label("Speaker").input_value() == "Ryan"
    await send(panel, "hello")
    await last_turn(panel)
    spec = VoiceSpec(VoiceMode.NAMED, "Ryan", "de", "warm")
    assert rich.engine.runs[-1].settings.voice == spec


async def test_an_engine_that_is_ready_later_brings_its_controls_without_a_reload(late, page, gate):
    await page.goto(late)
    await page.wait_for_selector(".engine[data-state=loading]")
    await open_settings(page)
    await page.get_by_text("is shown once the engine is ready.").wait_for()
    await page.fill("#system-prompt textarea", "Typed while it loads.")
    assert await page.get_by_label("Speaker").count() == 0
    gate.set()
    await page.get_by_label("Speaker").wait_for()
    await expect(page.locator("#voice-note")).to_have_text(HOW_TO_COPY)
    assert await page.input_value("#system-prompt textarea") == "Typed while it loads."


async def test_choices_of_another_engine_never_stand_in_the_way(changing, page):
    await open_page(page, changing.url)
    await open_settings(page)
    await choose(page, "Speaker", "Ryan")
    await page.fill("#voice-style textarea", "warm")
    await send(page, "die")
    await last_turn(page, "failed")
    await page.get_by_text("This engine speaks with one voice of its own.").wait_for()
    await send(page, "hello")
    await last_turn(page, count=2)
    assert changing.engine.runs[-1].settings.voice == VoiceSpec(VoiceMode.NAMED, "tone")


async def test_another_model_is_loaded_from_the_page_and_one_that_fails_is_told(
    choosable, page, gate
):
    await open_page(page, choosable)
    await open_settings(page)
    await page.get_by_label("Speaker").wait_for()
    model = page.get_by_label("Model", exact=True)
    await expect(model.locator("option")).to_have_text(["Rich", "Plain", "Broken"])

    await model.select_option("Plain")
    await page.get_by_text("Everyone's conversation waits while Plain is loaded.").wait_for()
    await page.get_by_role("button", name="Keep Rich").click()
    await expect(model).to_have_value("Rich")

    await model.select_option("Plain")
    await page.get_by_role("button", name="Change to Plain").click()
    await expect(page.locator("#model-host [role=status]")).to_have_text("Changing to Plain")
    await expect(page.locator("#model-host progress")).to_be_visible()
    await send(page, "hello")
    await page.get_by_text("The model is being changed to Plain; this waits for it.").wait_for()
    gate.set()
    turn = await last_turn(page)
    assert await turn.locator(".reply").inner_text() == "Plainly."
    await expect(page.locator("#model-host progress")).to_be_hidden()
    await page.get_by_text("This engine speaks with one voice of its own.").wait_for()

    await model.select_option("Broken")
    await page.get_by_role("button", name="Change to Broken").click()
    told = page.locator("#model-host").get_by_text("Broken could not be loaded: No model at")
    await told.wait_for()
    await expect(model).to_have_value("Plain")


async def test_the_voice_is_chosen_by_keyboard_alone(panel):
    await panel.get_by_label("Speaker").focus()
    await pick(panel, "Ryan")
    await expect(panel.get_by_label("Speaker")).to_have_value("Ryan")
    await panel.keyboard.press("Tab")
    await pick(panel, "English")
    await expect(panel.get_by_label("Language to speak")).to_have_value("English")


async def pick(page, option: str) -> None:
    """Go down to an option of the list that has the focus, and take it."""
    await page.get_by_role("option", name=option).wait_for()
    await page.keyboard.press("ArrowDown")
    await page.locator("[role=option].active", has_text=option).wait_for()
    await page.keyboard.press("Enter")


async def test_everything_fits_a_phone(rich, browser):
    context = await browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    phone = await context.new_page()
    await open_page(phone, rich.url)
    await open_settings(phone)
    await phone.get_by_label("Speaker").wait_for()
    await phone.fill("#voice-style textarea", "word" * 120)
    assert await phone.evaluate("document.documentElement.scrollWidth") <= 390
    await context.close()


async def test_all_four_stages_show_their_times(panel):
    await send(panel, "staged")
    await last_turn(panel)
    for stage in Stage:
        chip = panel.locator(f".chip[data-stage={stage}][data-state=done]")
        await chip.wait_for()
        assert (await chip.locator(".chip-time").inner_text()).endswith(" s")
