"""A call in the page: the microphone stays open, and a word stops the reply."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path

import pytest
import pytest_asyncio

from tests.browser.listening import Ear
from tests.browser.microphone import MICROPHONE
from tests.browser.world import last_turn, open_page
from tests.scripted_engine import say

QUESTION = Path(__file__).parents[2] / "assets" / "question.wav"

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(loop_scope="session")
async def caller(world, browser):
    """A page in a call, on an engine that answers at length."""
    world.engine.words = "How many legs does a spider have?"
    usual, world.engine.script = world.engine.script, say("It has eight legs.", chunks=10)
    context = await browser.new_context(permissions=["microphone", "camera"])
    page = await context.new_page()
    await page.add_init_script(MICROPHONE)
    await open_page(page, world.url)
    await page.click("#call-button")
    await state(page, "listening")
    yield page
    await context.close()
    world.engine.script = usual


async def state(page, name: str) -> None:
    await page.wait_for_selector(f"#call-host .call[data-state={name}]", timeout=20_000)


async def speak(page) -> None:
    wav = base64.b64encode(QUESTION.read_bytes()).decode()
    await page.evaluate("(wav) => window.saySomething(wav)", wav)


async def test_a_question_is_answered_without_a_hand(world, caller):
    ear = await Ear.listen(caller)
    await speak(caller)
    await state(caller, "hearing")
    await state(caller, "speaking")
    turn = await last_turn(caller)
    assert "How many legs" in await turn.locator(".asked").inner_text()
    assert len(await ear.reply()) > 0
    await state(caller, "listening")
    assert world.engine.runs[-1].heard == world.engine.words


async def test_a_word_stops_the_reply(world, caller):
    world.engine.script = say("A long reply that goes on.", chunks=400, chunk_s=0.1, pause_s=0.03)
    await speak(caller)
    await state(caller, "speaking")
    await speak(caller)
    turn = await last_turn(caller, "cancelled")
    assert "Interrupted" in await turn.inner_text()
    await caller.wait_for_selector(".turn:nth-of-type(2)", timeout=20_000)
    (exchange,) = world.engine.runs[-1].history
    assert len(exchange.assistant) < len("A long reply that goes on.")


async def test_the_camera_is_seen_and_its_light_goes_off(world, caller):
    await caller.click("#call-camera")
    await caller.wait_for_selector("#call-camera[aria-pressed=true]")
    await asyncio.sleep(1.5)
    await speak(caller)
    await last_turn(caller)
    assert world.engine.runs[-1].frames is not None
    await caller.evaluate("window.eyes = document.querySelector('#call-preview').srcObject")
    await caller.click("#call-camera")
    await caller.wait_for_function("() => eyes.getTracks().every((t) => t.readyState === 'ended')")


async def test_muted_nothing_is_heard(world, caller):
    before = len(world.engine.runs)
    await caller.click("#call-mute")
    await state(caller, "muted")
    await speak(caller)
    await asyncio.sleep(4)
    assert len(world.engine.runs) == before


async def test_with_the_space_bar_held_every_word_counts(world, caller):
    await caller.click("#call-push")
    await state(caller, "waiting")
    await caller.evaluate("document.activeElement.blur()")
    await caller.keyboard.down(" ")
    await speak(caller)
    await asyncio.sleep(2.5)
    await caller.keyboard.up(" ")
    await last_turn(caller)
    assert 1.5 < world.engine.runs[-1].audio.duration_s < 4.5


async def test_the_end_gives_the_microphone_back(caller):
    await caller.click("#call-button")
    await state(caller, "off")
    await caller.wait_for_function(
        "() => microphone.getTracks().every((track) => track.readyState === 'ended')"
    )
    assert await caller.locator("#talk").is_enabled()


async def test_a_refused_microphone_is_said_in_plain_words(caller):
    await caller.click("#call-button")
    await state(caller, "off")
    await caller.evaluate("window.refused = true")
    await caller.click("#call-button")
    await caller.wait_for_selector("#call-notice:not(:empty)")
    assert "not allowed to use the microphone" in await caller.inner_text("#call-notice")
    await state(caller, "off")
    assert await caller.locator("#talk").is_enabled()
