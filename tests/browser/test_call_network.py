"""A call over a bad network: it breaks off, comes back, or is too slow for what is said."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
import pytest_asyncio

from backend.contract.events import ReplyText, SpeechChunk
from tests.browser.link import Link
from tests.browser.listening import Ear
from tests.browser.test_call import MICROPHONE, speak, state
from tests.browser.world import GATE, gate_opens, last_turn, open_page, until
from tests.scripted_engine import RATE, say, tone

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

PART = tone(0.5)

# A connection that lets out only `uplink.bytesPerS`, and keeps the rest as a browser does.
SLOW_UPLINK = """
(() => {
  const uplink = (window.uplink = { bytesPerS: Infinity, waiting: 0 });
  const queue = [];
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) {
    queue.push([this, data]);
    uplink.waiting += data.length;
  };
  Object.defineProperty(WebSocket.prototype, "bufferedAmount", { get: () => uplink.waiting });
  let credit = 0;
  setInterval(() => {
    credit = Math.min(credit + uplink.bytesPerS / 50, uplink.bytesPerS);
    while (queue.length > 0 && queue[0][1].length <= credit) {
      const [socket, data] = queue.shift();
      credit -= data.length;
      uplink.waiting -= data.length;
      if (socket.readyState === WebSocket.OPEN) send.call(socket, data);
    }
  }, 20);
})();
"""


async def three_parts(engine, turn):
    """Say half a second, and twice more when the gate has been opened."""
    for number in range(3):
        if number:
            await gate_opens()
            GATE.clear()
        yield ReplyText(turn_id=turn.id, delta=f"Part {number + 1}. ")
        yield SpeechChunk(turn_id=turn.id, pcm=PART, sample_rate=RATE)


@pytest_asyncio.fixture(loop_scope="session")
async def context(world, browser):
    world.engine.words = "How many legs does a spider have?"
    usual, world.engine.script = world.engine.script, say("It has eight legs.", chunks=10)
    context = await browser.new_context(permissions=["microphone"])
    yield context
    await context.close()
    world.engine.script = usual


async def call(page, url: str) -> None:
    """Open the page and begin a call."""
    await page.add_init_script(MICROPHONE)
    await open_page(page, url)
    await page.click("#call-button")
    await state(page, "listening")


@pytest_asyncio.fixture(loop_scope="session")
async def caller(context):
    return await context.new_page()


@pytest_asyncio.fixture(loop_scope="session")
async def link(world, caller):
    """The connection of a page that is in a call."""
    link = await Link.attach(caller)
    await call(caller, world.url)
    return link


async def test_what_is_cut_off_in_the_middle_has_to_be_said_again(world, caller, link):
    before = len(world.engine.runs)
    await speak(caller)
    await state(caller, "hearing")
    await link.cut()
    await state(caller, "lost")
    assert "What you say now is not heard" in await caller.inner_text("#call-notice")
    await asyncio.sleep(3)  # the question is over by then
    link.mend()
    await state(caller, "listening")
    captions = caller.locator("#call-captions", has_text="Please say it again")
    await captions.wait_for()
    assert await caller.locator("#call-notice").is_hidden()
    await asyncio.sleep(2)
    assert len(world.engine.runs) == before
    await speak(caller)
    await last_turn(caller)
    assert len(world.engine.runs) == before + 1


async def test_a_reply_goes_on_after_a_loss_and_no_part_is_played_twice(world, caller, link, gate):
    world.engine.script = three_parts
    ear = await Ear.listen(caller)
    await speak(caller)
    await ear.begun()
    await link.cut()
    await state(caller, "lost")
    gate.set()
    await until(lambda: not gate.is_set())
    await asyncio.sleep(0.3)
    link.mend()
    remark = caller.locator(".remarks", has_text="may have been missed")
    await remark.wait_for()
    assert world.engine.running == 1
    gate.set()
    turn = await last_turn(caller)
    assert await turn.locator(".reply").inner_text() == "Part 1. Part 2. Part 3. "
    heard = np.frombuffer(await ear.reply(), "<i2")
    assert np.count_nonzero(heard) == pytest.approx(2 * len(PART), rel=0.05)
    await state(caller, "listening")
    await speak(caller)
    gate.set()
    await state(caller, "speaking")


async def test_a_reply_that_ended_meanwhile_is_not_begun_again(world, caller, link, gate):
    world.engine.script = three_parts
    ear = await Ear.listen(caller)
    await speak(caller)
    await ear.begun()
    await link.cut()
    for _ in range(2):
        gate.set()
        await until(lambda: not gate.is_set())
    await until(lambda: world.engine.running == 0)
    link.mend()
    turn = await last_turn(caller)
    assert "may have been missed" in await turn.locator(".remarks").inner_text()
    heard = np.frombuffer(await ear.reply(), "<i2")
    assert np.count_nonzero(heard) == pytest.approx(len(PART), rel=0.05)
    await state(caller, "listening")
    assert await ear.quiet_now()


async def test_on_a_slow_uplink_sound_is_dropped_and_told_and_does_not_pile_up(world, caller):
    sound_s = RATE * 2 * 4 / 3  # bytes
    await caller.add_init_script(SLOW_UPLINK)
    await call(caller, world.url)
    await caller.evaluate("(bytes) => (uplink.bytesPerS = bytes)", sound_s / 4)
    notice = caller.locator("#call-notice", has_text="too slow")
    await notice.wait_for(timeout=20_000)
    for _ in range(8):
        assert await caller.evaluate("uplink.waiting") < 2.5 * sound_s
        await asyncio.sleep(0.5)
    await caller.evaluate("() => (uplink.bytesPerS = 1e9)")
    await notice.wait_for(state="hidden", timeout=20_000)
    await speak(caller)
    await last_turn(caller)
