"""The page as a person meets it, on a scripted engine: type, record, stop, reload, two tabs."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from backend.conversation.pcm import to_pcm16
from backend.media.intake import read_question
from tests.browser.listening import Ear, trimmed
from tests.browser.world import assert_heard, assert_heard_last, last_turn, open_page, send, until
from tests.scripted_engine import tone
from ui import handlers

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

ASSETS = Path(__file__).parents[2] / "assets"


async def test_typed_words_are_answered_in_words_and_in_sound(tab):
    ear = await Ear.listen(tab)
    await send(tab, "hello")
    turn = await last_turn(tab)
    assert await turn.locator(".reply").inner_text() == "hello"
    assert_heard(await ear.reply())
    assert await tab.input_value("#message textarea") == ""
    assert "First sound 0" in await tab.inner_text("[data-figure=first-sound]")


async def test_words_are_shown_exactly_as_they_were_typed(tab):
    typed = "a <b> c <|x|> <test> 5 < 6 > 4 **bold** `code` &amp; <img src=x onerror=alert(1)>"
    await send(tab, typed)
    turn = await last_turn(tab)
    assert await turn.locator(".asked .words").first.inner_text() == typed
    assert await turn.locator(".reply").inner_text() == typed
    assert await turn.locator("img").count() == 0


async def test_three_turns_in_a_row_play_by_themselves(tab):
    ear = await Ear.listen(tab)
    for number in range(1, 4):
        await send(tab, f"turn {number}")
        await last_turn(tab, count=number)
        assert_heard(await ear.reply())


async def test_a_reply_of_a_fifth_of_a_second_is_heard_in_full(tab):
    ear = await Ear.listen(tab)
    await send(tab, "short")
    await last_turn(tab)
    assert_heard(await ear.reply())


async def test_a_reply_is_heard_before_its_third_piece_is_made(tab, gate):
    ear = await Ear.listen(tab)
    await send(tab, "piecemeal")
    await ear.begun()
    assert await ear.pushed() == 2
    gate.set()
    await last_turn(tab)
    assert len(await ear.reply()) >= len(trimmed(to_pcm16(tone(2.0))))
    assert await ear.pushed() == 10


async def test_silence_is_a_quiet_mark_with_its_reason_and_no_sound(tab):
    ear = await Ear.listen(tab)
    await send(tab, "quiet")
    turn = await last_turn(tab, "silent")
    assert await turn.locator(".quiet-mark").inner_text() == "Stayed silent. Nothing was asked."
    assert await turn.locator("footer").is_hidden()
    assert await ear.pushed() == 0


async def test_a_failed_turn_says_why_and_the_next_is_answered(tab):
    await send(tab, "bad")
    turn = await last_turn(tab, "failed")
    assert "a stage raised" in await turn.locator(".failure").inner_text()
    await send(tab, "again")
    await last_turn(tab, count=2)


async def test_a_reply_without_sound_shows_its_words_and_says_so(tab):
    await send(tab, "mute")
    turn = await last_turn(tab)
    assert await turn.locator(".reply").inner_text() == "Only words."
    assert "no sound" in await turn.locator(".notices").inner_text()


@pytest.mark.parametrize("how", ["button", "escape"])
async def test_stop_silences_at_once_and_ends_the_work(world, tab, how):
    ear = await Ear.listen(tab)
    await send(tab, "long")
    await ear.begun()
    if how == "button":
        await tab.click("#stop")
    else:
        await tab.keyboard.press("Escape")
    await last_turn(tab, "cancelled")
    assert await ear.quiet_now()
    await until(lambda: world.engine.running == 0)
    await send(tab, "next")
    await last_turn(tab, count=2)
    assert_heard(await ear.reply())


async def test_a_new_question_interrupts_the_reply(world, tab):
    ear = await Ear.listen(tab)
    await send(tab, "long")
    await ear.begun()
    await send(tab, "next")
    await last_turn(tab, count=2)
    assert_heard_last(await ear.reply(count=2))
    assert await tab.locator(".turn").first.get_attribute("data-outcome") == "cancelled"


async def test_five_clicks_on_send_make_one_turn(world, tab):
    before = len(world.engine.runs)
    await tab.fill("#message textarea", "hang")
    await tab.evaluate(
        "() => { for (let n = 0; n < 5; n++) document.querySelector('#send').click() }"
    )
    await tab.click("#send", click_count=3, delay=40)
    await tab.wait_for_selector(".turn")
    await asyncio.sleep(1)
    assert len(world.engine.runs) == before + 1
    assert await tab.locator(".field-error").count() == 0
    await tab.click("#stop")
    await last_turn(tab, "cancelled")


async def test_an_empty_send_gives_a_hint_and_the_next_good_one_removes_it(tab):
    await tab.click("#send")
    hint = tab.locator(".field-error")
    await hint.wait_for()
    assert await hint.inner_text() == "Type, say or show something first."
    await send(tab, "hello")
    await last_turn(tab)
    await hint.wait_for(state="detached")


async def test_a_refused_message_stays_to_be_mended(tab):
    too_long = "x" * 8001
    await send(tab, too_long)
    await tab.locator(".field-error").wait_for()
    assert await tab.input_value("#message textarea") == too_long


@pytest.fixture
def slow_reading(gate, monkeypatch):
    """What comes with a question is read only once the gate has opened; set once it could be."""
    begun = threading.Event()

    def read(*question):
        begun.set()
        assert gate.wait(20)
        return read_question(*question)

    monkeypatch.setattr(handlers, "read_question", read)
    return begun


async def test_words_typed_while_a_video_is_read_stay_for_the_next(
    world, tab, slow_reading, gate, until
):
    await tab.get_by_text("A video with a question").click()
    await tab.wait_for_function("document.querySelector('#video video')?.src")
    await send(tab, "first")
    await until(slow_reading.is_set)
    await tab.fill("#message textarea", "second")
    gate.set()
    await last_turn(tab)
    await tab.locator("#video video[src]").wait_for(state="detached")
    assert await tab.input_value("#message textarea") == "second"
    await tab.press("#message textarea", "Enter")
    await last_turn(tab, count=2)
    assert [turn.text for turn in world.engine.runs[-2:]] == ["first", "second"]
    assert world.engine.runs[-1].frames is None
    await message_is_empty(tab)


async def test_a_picture_added_while_a_question_is_read_stays_for_the_next(
    world, tab, slow_reading, gate, tmp_path
):
    Image.new("RGB", (64, 48), "red").save(tmp_path / "red.png")
    await send(tab, "first")
    await tab.get_by_role("tab", name="Picture").click()
    await tab.locator("#picture input[type=file]").set_input_files(tmp_path / "red.png")
    await tab.wait_for_selector("#picture img")
    gate.set()
    await message_is_empty(tab)
    await send(tab, "what is this?")
    await last_turn(tab, count=2)
    assert world.engine.runs[-2].frames is None
    assert len(world.engine.runs[-1].frames.images) == 1
    await tab.locator("#picture img").wait_for(state="detached")


async def message_is_empty(tab) -> None:
    await tab.wait_for_function("!document.querySelector('#message textarea').value")


async def test_two_tabs_hold_two_conversations(world, browser):
    contexts = [await browser.new_context() for _ in range(2)]
    ann, bob = [await context.new_page() for context in contexts]
    for tab in (ann, bob):
        await open_page(tab, world.url)
    await asyncio.gather(send(ann, "I am Ann"), send(bob, "I am Bob"))
    for tab, words in ((ann, "I am Ann"), (bob, "I am Bob")):
        turn = await last_turn(tab)
        assert await turn.locator(".reply").inner_text() == words
        assert await tab.locator(".turn").count() == 1
    for context in contexts:
        await context.close()


async def test_stop_in_one_tab_leaves_the_other_speaking(world, browser):
    context = await browser.new_context()
    ann, bob = await context.new_page(), await context.new_page()
    for tab in (ann, bob):
        await open_page(tab, world.url)
        await send(tab, "hang")
        await tab.wait_for_selector(".turn .reply:not([hidden])")
    await ann.click("#stop")
    await last_turn(ann, "cancelled")
    assert await bob.locator(".turn").get_attribute("data-outcome") == ""
    await bob.click("#stop")
    await last_turn(bob, "cancelled")
    await context.close()


async def test_a_reload_brings_the_conversation_back(tab):
    await send(tab, "remember me")
    await last_turn(tab)
    await tab.reload()
    turn = await last_turn(tab)
    assert await turn.locator(".reply").inner_text() == "remember me"


async def test_a_new_conversation_is_empty_for_the_page_and_the_engine(world, tab):
    await send(tab, "one")
    await last_turn(tab)
    await tab.click("#new-conversation")
    await tab.wait_for_selector(".empty")
    await send(tab, "two")
    await last_turn(tab)
    assert world.engine.runs[-1].history == ()


async def test_a_reply_can_be_replayed_and_downloaded(tab):
    ear = await Ear.listen(tab)
    await send(tab, "hello")
    turn = await last_turn(tab)
    await ear.reply()
    await turn.get_by_role("button", name="Play this reply again").click()
    assert_heard(await ear.reply())
    async with tab.expect_download() as waiting:
        await turn.get_by_role("link", name="Download").click()
    wav = (await (await waiting.value).path()).read_bytes()
    assert wav[44:] == to_pcm16(tone(0.2))


async def test_a_replay_is_played_once_obeys_stop_and_says_when_it_fails(tab):
    ear = await Ear.listen(tab)
    await send(tab, "hello")
    turn = await last_turn(tab)
    await ear.reply()
    replay = turn.get_by_role("button", name="Play this reply again")
    notice = tab.locator(".page-notice")
    waiting = []

    async def keep(route) -> None:
        waiting.append(route)

    await tab.route("**/replies/**", keep)

    await replay.click()
    await replay.click()
    await until(lambda: len(waiting) == 2)
    for route in waiting:
        await route.continue_()
    assert_heard(await ear.reply())

    waiting.clear()
    await replay.click()
    await until(lambda: len(waiting) == 1)
    await tab.click("#stop")
    await waiting.pop().continue_()
    await asyncio.sleep(0.3)
    assert await ear.quiet_now()

    await replay.click()
    await until(lambda: len(waiting) == 1)
    await waiting.pop().abort()
    await notice.get_by_text("could not be fetched").wait_for()
    await send(tab, "again")
    await last_turn(tab, count=2)
    assert await notice.is_hidden()


async def test_a_browser_that_keeps_nothing_has_a_conversation_all_the_same(world, page):
    await page.add_init_script(
        "Object.defineProperty(window, 'sessionStorage',"
        " { get() { throw new DOMException('blocked', 'SecurityError'); } })"
    )
    await open_page(page, world.url)
    await send(page, "hello")
    turn = await last_turn(page)
    assert await turn.locator(".reply").inner_text() == "hello"


async def test_an_uploaded_recording_is_sent_with_send(world, tab):
    await tab.get_by_role("tab", name="Sound file").click()
    async with tab.expect_file_chooser() as chooser:
        await tab.locator("#sound-file").get_by_text("Click to Upload").click()
    await (await chooser.value).set_files(ASSETS / "question.wav")
    await tab.wait_for_selector("#sound-file [data-testid^=waveform]")
    await tab.click("#send")
    await last_turn(tab)
    assert world.engine.runs[-1].audio.duration_s == pytest.approx(3.0, abs=0.1)


async def test_a_camera_clip_is_sent_with_its_frames(world, tab):
    await tab.get_by_role("tab", name="Camera or video").click()
    await tab.get_by_text("Click to Access Webcam").click()
    record = tab.locator("#video .capture-button")
    await record.wait_for()
    await asyncio.sleep(0.5)
    await record.click()
    await tab.locator("#video [title='stop recording']").wait_for()
    await asyncio.sleep(4)  # a busy machine takes a while to deliver the first frames
    await record.click()
    await tab.wait_for_selector("#video video[src]", timeout=15_000)
    await asyncio.sleep(0.5)
    await tab.click("#send")
    await last_turn(tab)
    frames = world.engine.runs[-1].frames
    assert 2 <= len(frames.images) <= 16
    assert frames.images.std() > 1
    assert np.all(np.diff(frames.times_s) > 0)


async def test_settings_reach_the_engine_and_survive_a_reload(world, tab):
    await tab.get_by_role("button", name="Settings").click()
    await tab.fill("#system-prompt textarea", "Speak like a pirate.")
    await tab.press("#system-prompt textarea", "Tab")
    await asyncio.sleep(0.5)
    await tab.reload()
    await tab.wait_for_selector(".engine[data-state=ready]", timeout=60_000)
    await asyncio.sleep(0.5)
    await send(tab, "ahoy")
    await last_turn(tab)
    assert world.engine.runs[-1].settings.system_prompt == "Speak like a pirate."


async def test_everything_works_by_keyboard_alone(tab):
    await tab.focus("#message textarea")
    await tab.keyboard.type("by keyboard")
    await tab.keyboard.press("Enter")
    await last_turn(tab)
    await tab.focus(".transcript")
    await tab.keyboard.press("Tab")
    focused = await tab.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused == "Play this reply again"


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_nothing_is_cut_off_at_phone_width(world, browser, scheme):
    context = await browser.new_context(
        viewport={"width": 390, "height": 844}, color_scheme=scheme, has_touch=True
    )
    phone = await context.new_page()
    await open_page(phone, world.url)
    await send(phone, "a-word-without-any-break-" * 20)
    await last_turn(phone)
    overflow = await phone.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    assert overflow <= 0
    for selector in ("#send", "#stop", "#message", ".stages", "#new-conversation"):
        box = await phone.locator(selector).bounding_box()
        assert box["x"] >= 0, selector
        assert box["x"] + box["width"] <= 390, selector
    await context.close()


async def test_a_dead_engine_is_shown_and_comes_back(world, tab):
    await send(tab, "die")
    turn = await last_turn(tab, "failed")
    assert "a stage died" in await turn.locator(".failure").inner_text()
    await tab.wait_for_selector(".engine[data-state=ready]")
    await send(tab, "back")
    await last_turn(tab, count=2)
    assert len(world.engines) >= 2


async def test_leaving_in_mid_reply_cancels_the_work(world, browser):
    context = await browser.new_context()
    tab = await context.new_page()
    await open_page(tab, world.url)
    await send(tab, "hang")
    await tab.locator(".reply:not([hidden])").wait_for()
    left = world.engine.runs[-1].id
    await tab.close()
    await until(lambda: left in world.engine.stopped, seconds=20)
    assert world.engine.running == 0
    await context.close()
